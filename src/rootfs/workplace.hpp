#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "image/overlay.hpp"
#include "image/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// A root that programs are run in besides the image's own: an overlay at `NAME` in the
/// build's slot of `work/`, gone when the value goes.
class Workplace {
public:
    /// Clears what a killed build left at `name`, a plain name that no other workplace has.
    Workplace(const Context& ctx, const std::string& name);
    Workplace(const Workplace&) = delete;
    Workplace& operator=(const Workplace&) = delete;
    ~Workplace();

    /// Fills and mounts the root. Call it once.
    void mount(const Context& ctx, const Entries& entries);

    /// What is mounted, for SandboxCommand::root and Tree::root.
    [[nodiscard]] std::filesystem::path root() const { return directory_ / "root"; }
    /// What programs change in it, for Tree::upper.
    [[nodiscard]] std::filesystem::path upper() const { return directory_ / "upper"; }
    /// A directory of that name beside the root, made if need be.
    [[nodiscard]] std::filesystem::path made(const char* name) const;

private:
    void clear() const;

    std::filesystem::path directory_;
    std::optional<RootMount> mount_;
};

}  // namespace edgegpu
