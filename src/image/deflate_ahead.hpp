#pragma once

#include <memory>

#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Compresses contents (`deflate_contents`) in the background while other stages run. Its threads
/// have a lower priority than the stages, which are mostly serial. With autogroup scheduling
/// (sched(7)) that has no effect relative to programs of the image, which have sessions of their
/// own. Movable.
class DeflateAhead {
public:
    /// Does nothing; `finish` returns at once.
    DeflateAhead();
    /// Starts with the files of `entries`. `ctx` is copied; what it points to must outlive this.
    DeflateAhead(const Context& ctx, Entries entries);
    DeflateAhead(DeflateAhead&&) noexcept;
    DeflateAhead& operator=(DeflateAhead&&) noexcept;
    /// Cancels the work that remains, and waits for the threads.
    ~DeflateAhead();

    /// Waits until everything is compressed. Throws the Error of `deflate_contents`, or
    /// ErrorKind::interrupted if the build is cancelled.
    void finish();

private:
    class Work;
    std::unique_ptr<Work> work_;
};

}  // namespace edgegpu
