#pragma once

#include <thread>

#include <gio/gio.h>

#include "execution/context.hpp"
#include "support/handles.hpp"

namespace edgegpu {

/// A GCancellable that is cancelled soon after the command is, or its result is abandoned
/// (Context::check_cancelled): for calls of libostree that wait.
class Cancellable {
public:
    explicit Cancellable(const Context& ctx);
    Cancellable(const Cancellable&) = delete;
    Cancellable& operator=(const Cancellable&) = delete;
    ~Cancellable() = default;

    [[nodiscard]] GCancellable* get() const noexcept { return handle_.get(); }

private:
    Handle<GCancellable, g_object_unref> handle_;
    /// The last member, so that it ends before what it uses.
    std::jthread watcher_;
};

}  // namespace edgegpu
