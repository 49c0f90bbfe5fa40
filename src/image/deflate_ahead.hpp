#pragma once

#include <memory>

#include "image/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Compresses contents (`deflate_contents`) while other stages run, for the commit to find them
/// done. Its threads have a lower priority than the build's others, as what it waits for is mostly
/// serial. A kernel that schedules sessions as groups (autogroup) does not heed that towards
/// programs of the image, which have sessions of their own. Movable.
class DeflateAhead {
public:
    /// None: `finish` returns at once.
    DeflateAhead();
    /// Begins with the files of `entries`. `ctx` need not live longer than the call, but what it
    /// points to must.
    DeflateAhead(const Context& ctx, Entries entries);
    DeflateAhead(DeflateAhead&&) noexcept;
    DeflateAhead& operator=(DeflateAhead&&) noexcept;
    /// Ends it where it is: files of which it has begun to write a stream are finished.
    ~DeflateAhead();

    /// Waits until all is done. Throws what stopped it (as `deflate_contents` does), or
    /// ErrorKind::interrupted when the user asks to stop.
    void finish();

private:
    class Work;
    std::unique_ptr<Work> work_;
};

}  // namespace edgegpu
