#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "execution/context.hpp"
#include "image/overlay.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// A root directory for programs besides the image's own: an overlay in the directory `NAME` of the
/// build's slot of `work/`, removed on destruction.
class Workplace {
public:
    /// Removes what a killed build left at `name`, a file name that no other workplace uses.
    Workplace(const Context& ctx, const std::string& name);
    Workplace(const Workplace&) = delete;
    Workplace& operator=(const Workplace&) = delete;
    ~Workplace();

    /// Fills and mounts the root. To be called once.
    void mount(const Context& ctx, const Entries& entries);

    /// The mounted root, for SandboxCommand::root and Tree::root.
    [[nodiscard]] std::filesystem::path root() const { return directory_ / "root"; }
    /// Its upper layer, for Tree::upper.
    [[nodiscard]] std::filesystem::path upper() const { return directory_ / "upper"; }
    /// The directory `name` beside the root, created if necessary.
    [[nodiscard]] std::filesystem::path made(const char* name) const;

private:
    void clear() const;

    std::filesystem::path directory_;
    std::filesystem::path visible_;
    std::optional<RootMount> mount_;
};

}  // namespace edgegpu
