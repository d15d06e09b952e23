// Three groups of pendulums with lengths of their own. Each group takes a thousand small steps, and the groups are branches:
// they run side by side. Then the same from inside an OpenMP region, where everything stays on the calling thread.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "eagle/exec.h"

namespace exec = eagle::exec;

namespace {

constexpr int64_t kPendulums = 1000, kSteps = 1000;
constexpr double kStep = 1e-3, kGravity = 9.81;

struct Group {
    explicit Group(double length) : pull(kGravity / length), angle(kPendulums), speed(kPendulums) {
        for (std::size_t i = 0; i < angle.size(); ++i) angle[i] = 1e-3 * static_cast<double>(i);
    }

    // One step of every pendulum from begin to end; each range is one thread's.
    void operator()(int64_t begin, int64_t end) {
        for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
            speed[i] -= kStep * pull * std::sin(angle[i]);
            angle[i] += kStep * speed[i];
        }
    }

    double energy() const {
        double sum = 0;
        for (std::size_t i = 0; i < angle.size(); ++i) sum += speed[i] * speed[i] / 2 - pull * std::cos(angle[i]);
        return sum;
    }

    double pull;
    std::vector<double> angle, speed;
};

double swing() {
    std::vector<Group> groups{Group(0.5), Group(1.0), Group(2.0)};
    std::vector<exec::Job> jobs;
    for (Group& group : groups) jobs.insert(jobs.end(), kSteps, exec::job_of(group, kPendulums, 10.0));
    std::vector<exec::Branch> branches;
    for (std::size_t g = 0; g < groups.size(); ++g) branches.push_back({jobs.data() + g * kSteps, kSteps});

    const exec::RunEnd end = exec::runHostBranches(branches.data(), branches.size());
    double sum = 0;
    for (const Group& group : groups) sum += group.energy();
    return end.code == 0 ? sum : std::nan("");
}

}  // namespace

int main() {
    const exec::Schedule schedule = exec::resolve({3, kPendulums}, exec::team_size());
    const double outside = swing();
    std::printf("%s on %d threads: energy %.17g\n", exec::name_of(schedule), exec::team_size(), outside);

    int inside = 0, same = 0;
#pragma omp parallel for num_threads(4) reduction(+ : inside, same)
    for (int i = 0; i < 4; ++i) {
        inside += exec::in_openmp_region() ? 1 : 0;
        same += swing() == outside ? 1 : 0;
    }
    std::printf("again four times, %d of them inside an OpenMP region: %d the same\n", inside, same);
    return same == 4 ? 0 : 1;
}
