// Memory in which an access outside is found.
#pragma once

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <mutex>

#include "check.h"

// Valgrind sees every access outside a block of the heap. The address sanitizer does so only in code it compiled itself,
// which generated code is not; a page that may not be touched stops every code, at the end it borders on.
enum class Home { heap, before_guard, after_guard };

inline const char* name_of(Home home) {
    return home == Home::heap ? "on the heap" : home == Home::before_guard ? "up to a guard page" : "from a guard page on";
}

// Rows of some bytes each: one after another in one block of the heap, or every row between two guard pages.
class Rows {
  public:
    Rows(const char* owner, const char* name, int rows, std::size_t bytes, Home home)
        : owner_(owner), name_(name), home_(home), rows_(rows), bytes_(bytes) {
        const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        room_ = home == Home::heap ? bytes : (bytes + page - 1) / page * page;
        stride_ = home == Home::heap ? bytes : room_ + page;
        if (home == Home::heap) {
            first_ = memory_ = static_cast<char*>(std::malloc(rows * bytes));
        } else {
            mapped_ = static_cast<std::size_t>(rows) * stride_ + page;
            void* mapping = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            CHECK(mapping != MAP_FAILED);
            memory_ = static_cast<char*>(mapping);
            first_ = memory_ + page + (home == Home::before_guard ? room_ - bytes : 0);
            for (int i = 0; i < rows; ++i) {
                CHECK(mprotect(room(i), room_, PROT_READ | PROT_WRITE) == 0);
                std::memset(room(i), kUnused, room_);
            }
        }
        const std::lock_guard lock(all_mutex);
        here_ = all.insert(all.end(), this);
    }
    ~Rows() {
        {
            const std::lock_guard lock(all_mutex);
            all.erase(here_);
        }
        if (home_ == Home::heap) std::free(memory_);
        else munmap(memory_, mapped_);
    }
    Rows(const Rows&) = delete;
    Rows& operator=(const Rows&) = delete;

    char* row(int i) const { return first_ + static_cast<std::size_t>(i) * stride_; }
    std::size_t bytes() const { return bytes_; }
    int64_t stride() const { return static_cast<int64_t>(stride_); }

    // Whether what a row leaves of its pages is as it was.
    bool unused_is_untouched() const {
        for (int i = 0; home_ != Home::heap && i < rows_; ++i)
            for (char* byte = room(i); byte < room(i) + room_; ++byte)
                if ((byte < row(i) || byte >= row(i) + bytes_) && *byte != static_cast<char>(kUnused)) return false;
        return true;
    }

    // Says whose guard page was touched, and ends the process.
    static void report_touched_guards() {
        struct sigaction action = {};
        action.sa_flags = SA_SIGINFO;
        action.sa_sigaction = [](int, siginfo_t* what, void*) {
            const auto* at = static_cast<const char*>(what->si_addr);
            for (const Rows* one : all)
                if (one->home_ != Home::heap && at >= one->memory_ && at < one->memory_ + one->mapped_)
                    std::fprintf(stderr, "%s: outside %s, %s: %td bytes after its first\n", one->owner_, one->name_,
                                 name_of(one->home_), at - one->first_);
            std::fprintf(stderr, "invalid access at %p\n", static_cast<const void*>(at));
            _exit(1);
        };
        CHECK(sigaction(SIGSEGV, &action, nullptr) == 0 && sigaction(SIGBUS, &action, nullptr) == 0);
    }

  private:
    static constexpr int kUnused = 0xA5;
    static inline std::mutex all_mutex;
    static inline std::list<const Rows*> all;

    char* room(int i) const { return row(i) - (home_ == Home::before_guard ? room_ - bytes_ : 0); }

    const char* const owner_;
    const char* const name_;
    const Home home_;
    const int rows_;
    const std::size_t bytes_;
    std::size_t room_, stride_, mapped_ = 0;
    char *memory_, *first_;
    std::list<const Rows*>::iterator here_;
};
