print(g.to_mermaid())     # flowchart TD ... paste into a Markdown page
print(g.to_dot())         # Graphviz DOT
