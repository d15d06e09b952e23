import matplotlib.pyplot as plt
import matplotlib.patches as mpatches

fig, axes = plt.subplots(2, 1, figsize=(5.5, 3.2), sharex=True)

ax = axes[0]
for i in range(8):
    ax.add_patch(mpatches.FancyArrow(i, 0, 0.6, 0, width=0.08, color="C0"))
    if i < 7:
        ax.plot([i + 0.6, i + 1], [0, 0], ":", color="gray", lw=1)
ax.set_title("eager loop: a host round trip after every launch", fontsize=9)
ax.set_yticks([])
ax.set_xlim(-0.3, 8)

ax = axes[1]
ax.add_patch(mpatches.FancyArrow(0, 0, 7.6, 0, width=0.08, color="C1"))
ax.set_title("eagle graph: one launch, the device loops itself", fontsize=9)
ax.set_yticks([])
ax.set_xlim(-0.3, 8)
ax.set_xlabel("time (not to scale)")

fig.tight_layout()
plt.show()
