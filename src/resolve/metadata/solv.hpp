#pragma once

// libsolv for C++20: without this definition a member of Solvable is called `requires`; some of
// its headers do not declare C linkage themselves.
#define LIBSOLV_SOLVABLE_PREPEND_DEP

extern "C" {
#include <solv/chksum.h>
#include <solv/evr.h>
#include <solv/pool.h>
#include <solv/queue.h>
#include <solv/repo.h>
#include <solv/repo_rpmmd.h>
#include <solv/repo_solv.h>
#include <solv/repo_write.h>
#include <solv/solver.h>
}

namespace edgegpu {

/// An owned libsolv queue of ids.
class IdQueue {
public:
    IdQueue() { queue_init(&queue_); }
    ~IdQueue() { queue_free(&queue_); }
    IdQueue(const IdQueue&) = delete;
    IdQueue& operator=(const IdQueue&) = delete;

    [[nodiscard]] Queue* get() noexcept { return &queue_; }
    [[nodiscard]] const Id* begin() const noexcept { return queue_.elements; }
    [[nodiscard]] const Id* end() const noexcept { return queue_.elements + queue_.count; }
    [[nodiscard]] int size() const noexcept { return queue_.count; }

private:
    Queue queue_{};
};

/// Replaces `ids` by the package's list `key`, such as SOLVABLE_REQUIRES. libsolv 0.7.23 appends
/// the list to the queue; other releases empty it first.
inline void lookup_ids(Solvable* package, Id key, IdQueue& ids) {
    queue_empty(ids.get());
    solvable_lookup_idarray(package, key, ids.get());
}

}  // namespace edgegpu
