#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace edgegpu::gpu_health {

/// The content of a regular file; nothing: there is none. Throws std::runtime_error with the
/// reason, without the path, for anything else: a directory, a fifo, more than `limit` bytes.
[[nodiscard]] std::optional<std::string> read_whole(const std::filesystem::path& path,
                                                    std::size_t limit);

/// Writes a file (mode 0644) so that it is there as a whole or as it was before, also after a power
/// cut; makes the directories above it. Throws std::runtime_error with the reason, without the
/// path.
void write_whole(const std::filesystem::path& path, std::string_view text);

/// Removes a file; one that is not there is no error. Throws as above.
void remove_file(const std::filesystem::path& path);

/// An open file descriptor.
class Descriptor {
public:
    explicit Descriptor(int number) noexcept : number_(number) {}
    ~Descriptor();
    Descriptor(Descriptor&& other) noexcept;
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    Descriptor& operator=(Descriptor&&) = delete;
    [[nodiscard]] int number() const noexcept { return number_; }

private:
    int number_;
};

}  // namespace edgegpu::gpu_health
