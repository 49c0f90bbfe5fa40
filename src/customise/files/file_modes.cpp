#include "customise/files/file_modes.hpp"

#include <algorithm>
#include <array>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "blueprint/sources/path_modes.hpp"
#include "image/content.hpp"
#include "support/handles.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view starts = "programs are executable";
constexpr std::string_view secret = "it has a secret ([[allow_secrets]])";

/// Whether a file is where programs are that nobody calls by their name, and begins like one.
bool is_program(std::string_view path, const Entry& entry) {
    if (!is_below(path, "/usr/libexec")) {
        return false;
    }
    const Fd file(::open(entry.content.c_str(), O_RDONLY | O_CLOEXEC));
    std::array<char, 4> begin{};
    const ssize_t size = file ? ::read(file.get(), begin.data(), begin.size()) : 0;
    const std::string_view text(begin.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    return text.starts_with("#!") || text ==
                                         "\x7f"
                                         "ELF";
}

}  // namespace

FileModes::FileModes(const Context& ctx, const std::vector<SecretAllowance>& secrets) : ctx_(ctx) {
    for (const SecretAllowance& allowance : secrets) {
        secrets_.emplace_back(allowance.path);
    }
}

void FileModes::apply(const std::string& path, const FileMode& known, Entry& entry) {
    const PathMode* const row = find_path_mode(path);
    if (row != nullptr && row->root_only && entry.uid != 0) {
        if (known.owner_said) {
            ctx_.console->warn_of(fmt::format("it must be root's: {}", row->reason), path);
        } else {
            entry.uid = entry.gid = 0;
            noted_[{row->mode, fmt::format("and root's: {}", row->reason)}].push_back(path);
        }
    }
    if (known.said) {
        entry.mode = *known.said;
        if (const std::string_view fault = mode_fault(path, entry.mode); !fault.empty()) {
            ctx_.console->warn_of(fmt::format("the mode that is set: {}", fault), path);
        }
        return;
    }
    const bool has_secret = std::any_of(secrets_.begin(), secrets_.end(),
                                        [&](const PathGlob& glob) { return glob.matches(path); });
    const bool program = !known.executable && is_program(path, entry);
    const unsigned plain = known.archived.value_or(known.executable ? 0755 : 0644);
    const bool kept = known.archived && mode_fault(path, plain).empty() && !program;
    entry.mode = kept ? plain : usual_mode(path, known.executable || program, has_secret);
    if (entry.mode != plain) {
        const std::string_view why = row != nullptr ? row->reason : program ? starts : secret;
        noted_[{entry.mode, std::string(why)}].push_back(path);
    }
}

void FileModes::finish() const {
    constexpr std::size_t most = 5;
    for (const auto& [key, paths] : noted_) {
        const auto& [mode, reason] = key;
        const auto end = paths.begin() + static_cast<std::ptrdiff_t>(std::min(most, paths.size()));
        const std::string more =
            paths.size() > most ? fmt::format(" and {} more", paths.size() - most) : "";
        ctx_.console->note(fmt::format("mode {:04o} for {}{}: {}", mode,
                                       fmt::join(paths.begin(), end, ", "), more, reason));
    }
}

}  // namespace edgegpu
