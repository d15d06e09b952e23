// eagle_cpu._native: the thread team for Python. What it does is documented in team.py and _native.pyi.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "eagle/exec.h"
#include "eagle/exec/copy.h"
#include "eagle/exec/tiles.h"
#include "job_list.h"
#include "python_watch.h"
#include "reductions.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace eagle::python {
namespace {

int32_t run(uintptr_t entry, uintptr_t args, int64_t samples, int64_t grain, double cost_ns, bool streams) {
    exec::Job job = checked_job(entry, args, samples, grain, cost_ns);
    job.streams = streams;
    Detached detached;
    PythonWatch watch(detached);
    const int32_t code = exec::run(job, on_main_thread() ? &watch : nullptr);
    detached.attach();
    if (code < 0) {
        const nb::object reason = reason_of_stop(watch);
        PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(reason.ptr())), reason.ptr());
        throw nb::python_error();
    }
    return code;
}

void set_team_size(int64_t size) {
    if (size < 1 || size > exec::kMostThreads) {
        const std::string text =
            "a team of " + std::to_string(size) + " threads: pass a number from 1 to " + std::to_string(exec::kMostThreads);
        throw nb::value_error(text.c_str());
    }
    exec::set_team_size(static_cast<int>(size));
}

void shut_down() {
    Detached detached;    // a thread that is still in a job needs the lock to end
    exec::shut_down();
}

const char* resolve(int64_t branches, int64_t samples, bool native, int threads) {
    return exec::name_of(exec::resolve({static_cast<std::size_t>(branches < 0 ? 0 : branches), samples, native}, threads));
}

int traverse_jobs(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    return nb::inst_ready(self) ? nb::inst_ptr<JobList>(self)->traverse(visit, arg) : 0;
}

int clear_jobs(PyObject* self) {
    if (nb::inst_ready(self)) nb::inst_ptr<JobList>(self)->clear();
    return 0;
}

int traverse_interrupted(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<Interrupted>(self)->error.ptr());
    return 0;
}

int clear_interrupted(PyObject* self) {
    if (nb::inst_ready(self)) nb::inst_ptr<Interrupted>(self)->error.reset();
    return 0;
}

PyType_Slot job_list_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_jobs)},
                                {Py_tp_clear, reinterpret_cast<void*>(clear_jobs)},
                                {0, nullptr}};
PyType_Slot interrupted_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_interrupted)},
                                   {Py_tp_clear, reinterpret_cast<void*>(clear_interrupted)},
                                   {0, nullptr}};

}  // namespace
}  // namespace eagle::python

NB_MODULE(_native, m) {
    using namespace eagle::python;

    m.def("run", &run, "entry"_a, "args"_a, "samples"_a, "grain"_a, "cost_ns"_a, "streams"_a = false);
    m.def("team_size", &eagle::exec::team_size);
    m.def("set_team_size", &set_team_size, "size"_a);
    m.def("shut_down", &shut_down);
    m.def("tiles_entry", [] { return reinterpret_cast<uintptr_t>(&eagle::exec::run_tiles); });
    m.def("copy_entry", [] { return reinterpret_cast<uintptr_t>(&eagle::exec::run_copy); });
    m.def("resolve", &resolve, "branches"_a, "samples"_a, "native"_a, "threads"_a);
    m.attr("BRANCH_TASKS_MAX_SAMPLES") = eagle::exec::kBranchTasksMaxSamples;

    nb::class_<Moved>(m, "Moved").def_ro("plane", &Moved::plane);
    nb::class_<Failed>(m, "Failed")
        .def_ro("job", &Failed::job)
        .def_ro("code", &Failed::code)
        .def_ro("repetition", &Failed::repetition);
    nb::class_<Interrupted>(m, "Interrupted", nb::type_slots(interrupted_slots))
        .def_ro("job", &Interrupted::job)
        .def_ro("repetition", &Interrupted::repetition)
        .def_ro("error", &Interrupted::error);
    nb::class_<JobList>(m, "JobList", nb::type_slots(job_list_slots))
        .def(nb::init<const std::vector<JobTuple>&, const std::vector<PlaneTuple>&, const std::optional<StageLists>&>(),
             "jobs"_a, "planes"_a = std::vector<PlaneTuple>(), "stages"_a = nb::none())
        .def("run", &JobList::run, "n"_a = 1)
        .def("moved", &JobList::moved)
        .def("__len__", &JobList::size);

    define_reductions(m);

    const nb::object threading = nb::module_::import_("threading");
    remember_main_thread(nb::cast<unsigned long>(threading.attr("main_thread")().attr("ident")));
    nb::module_::import_("atexit").attr("register")(m.attr("shut_down"));
}
