#pragma once

#include <memory>
#include <utility>

#include <unistd.h>

namespace edgegpu {

/// A deleter that calls the C function `Free` on the pointer.
template <auto Free>
struct Deleter {
    template <typename T>
    void operator()(T* pointer) const noexcept {
        Free(pointer);
    }
};

/// An owning pointer to a C object: `Handle<GVariant, g_variant_unref>`.
template <typename T, auto Free>
using Handle = std::unique_ptr<T, Deleter<Free>>;

/// An owned file descriptor; -1 means none.
class Fd {
public:
    Fd() = default;
    explicit Fd(int fd) noexcept : fd_(fd) {}
    Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Fd& operator=(Fd&& other) noexcept {
        if (this != &other) {
            reset();
            fd_ = std::exchange(other.fd_, -1);
        }
        return *this;
    }
    Fd(const Fd&) = delete;
    Fd& operator=(const Fd&) = delete;
    ~Fd() { reset(); }

    [[nodiscard]] int get() const noexcept { return fd_; }
    explicit operator bool() const noexcept { return fd_ >= 0; }
    /// Passes the descriptor on to the caller, who has to close it.
    [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }
    /// Closes the descriptor now, ignoring errors.
    void reset() noexcept {
        if (fd_ >= 0) {
            ::close(fd_);
            fd_ = -1;
        }
    }

private:
    int fd_ = -1;
};

}  // namespace edgegpu
