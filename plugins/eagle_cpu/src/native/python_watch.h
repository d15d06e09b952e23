// What the team has to do with the interpreter: its lock, and its signals.
#pragma once

#include <Python.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "eagle/exec/fp_environment.h"
#include "eagle/exec/watch.h"

namespace eagle::python {

// The thread that runs signal handlers. In a forked child that is the one that forked.
inline std::atomic<unsigned long> main_thread{0};

inline void remember_main_thread(unsigned long ident) noexcept {
    main_thread.store(ident, std::memory_order_relaxed);
    pthread_atfork(nullptr, nullptr, [] { main_thread.store(PyThread_get_thread_ident(), std::memory_order_relaxed); });
}

inline bool on_main_thread() noexcept {
    return PyThread_get_thread_ident() == main_thread.load(std::memory_order_relaxed);
}

// Without the interpreter's lock until `attach`, at the latest until the end of the scope.
class Detached {
  public:
    Detached() noexcept { detach(); }
    ~Detached() { attach(); }
    Detached(const Detached&) = delete;
    Detached& operator=(const Detached&) = delete;

    void attach() noexcept {
        if (state_ == nullptr) return;
        // An interpreter that is ending would unwind a daemon thread through C++ frames, which aborts the process. It
        // waits here instead, as Python itself lets it do from 3.14 on, and goes down with the process. The main thread
        // is the one that ends the interpreter: what is launched as the last objects are deleted goes on.
        while (ending() && !on_main_thread()) wait();
        PyEval_RestoreThread(state_);
        state_ = nullptr;
    }
    void detach() noexcept { state_ = PyEval_SaveThread(); }

  private:
    static bool ending() noexcept {
#if PY_VERSION_HEX >= 0x030D0000
        return Py_IsFinalizing() != 0;
#else
        return _Py_IsFinalizing() != 0;
#endif
    }
    static void wait() noexcept { std::this_thread::sleep_for(std::chrono::seconds(1)); }

    PyThreadState* state_ = nullptr;
};

// Runs Python's signal handlers while a job of the main thread is under way. What a handler raises stops the job.
class PythonWatch final : public exec::Watch {
  public:
    explicit PythonWatch(Detached& detached) noexcept : detached_(detached) {}
    ~PythonWatch() { Py_CLEAR(error_); }    // attached again by then

    // The exception a handler raised, or nothing; to be asked with the interpreter's lock held.
    PyObject* take_error() noexcept {
        PyObject* const error = error_;
        error_ = nullptr;
        return error;
    }

  private:
    bool interrupted() noexcept override {
        const exec::DefaultFpEnvironment environment;    // a handler may change it: the job gets its own back
        detached_.attach();
        const bool raised = PyErr_CheckSignals() != 0;
        if (raised) fetch();
        detached_.detach();
        return raised;
    }

    void fetch() noexcept {
        Py_CLEAR(error_);
#if PY_VERSION_HEX >= 0x030C0000
        error_ = PyErr_GetRaisedException();
#else
        PyObject *type, *value, *trace;
        PyErr_Fetch(&type, &value, &trace);
        PyErr_NormalizeException(&type, &value, &trace);
        if (trace != nullptr) PyException_SetTraceback(value, trace);
        Py_XDECREF(type);
        Py_XDECREF(trace);
        error_ = value;
#endif
    }

    Detached& detached_;
    PyObject* error_ = nullptr;
};

}  // namespace eagle::python
