#include "resolve/metadata/metadata_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <exception>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "support/error.hpp"
#include "support/files/decompress.hpp"
#include "support/files/file.hpp"
#include "support/files/unpack_limit.hpp"
#include "support/handles.hpp"
#include "transfer/xml_encoding.hpp"

namespace edgegpu {

namespace {

namespace fs = std::filesystem;

/// Several times what file lists of the largest distributions have. libsolv counts in 32 bits.
constexpr std::uint64_t largest_xml = std::uint64_t{2} << 30U;
constexpr std::uint64_t largest_in_memory = std::uint64_t{256} << 20U;
/// What metadata may decompress to beyond 100 times their size: small ones are much alike.
constexpr std::uint64_t spare_bytes = std::uint64_t{16} << 20U;
/// Enough for an XML declaration.
constexpr std::size_t head_size = 1024;

/// A file, and what it may decompress to.
Decompressor open_compressed(const std::string& repository, const fs::path& path,
                             std::uint64_t open_size, UnpackLimit limit) {
    const std::string name =
        fmt::format("repository '{}': {}", repository, path.filename().string());
    Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) {
        throw Error(ErrorKind::fetch, errno_error(name, errno).message());
    }
    constexpr std::string_view zchunk("\0ZCK1", 5);
    std::array<char, zchunk.size()> magic{};
    if (::pread(file.get(), magic.data(), magic.size(), 0) == std::ssize(magic) &&
        std::string_view(magic.data(), magic.size()) == zchunk) {
        throw error(ErrorKind::fetch, "{} is a zchunk file, which edgegpu cannot read", name)
            .hinted("have the repository made with createrepo_c --compress-type gz, xz or zstd");
    }
    struct stat status {};
    if (::fstat(file.get(), &status) == 0) {
        limit = limit.with(most_unpacked(static_cast<std::uint64_t>(status.st_size), spare_bytes));
    }
    if (open_size != 0) {
        limit = limit.with({open_size, ", its open-size in repomd.xml"});
    }
    return {std::move(file), std::move(limit), name, ErrorKind::fetch};
}

}  // namespace

struct MetadataStream::State {
    Decompressor content;
    std::string head{};
    /// Bytes of `head` that have been read.
    std::size_t passed = 0;
    std::exception_ptr failure{};
    Handle<FILE, std::fclose> file{};

    void read_head();
    std::size_t read(std::span<char> buffer);
};

void MetadataStream::State::read_head() {
    head.resize(head_size);
    std::size_t size = 0;
    while (const std::size_t got = content.read(std::span(head).subspan(size))) {
        size += got;
    }
    head.resize(size);
}

std::size_t MetadataStream::State::read(std::span<char> buffer) {
    if (passed == head.size()) {
        return content.read(buffer);
    }
    const std::size_t size = head.copy(buffer.data(), buffer.size(), passed);
    passed += size;
    return size;
}

MetadataStream::MetadataStream(const std::string& repository, const fs::path& path,
                               std::uint64_t open_size)
    : state_(new State{open_compressed(repository, path, open_size, largest_xml)}) {
    state_->read_head();
    if (const std::optional<std::string> problem = xml_problem(state_->head)) {
        throw error(ErrorKind::fetch, "repository '{}': {} cannot be read: {}", repository,
                    path.filename().string(), *problem)
            .hinted("have the repository made with createrepo_c, which writes UTF-8");
    }
    cookie_io_functions_t functions{};
    functions.read = [](void* cookie, char* buffer, std::size_t size) noexcept -> ssize_t {
        State& state = *static_cast<State*>(cookie);
        if (!state.failure) {
            try {
                return static_cast<ssize_t>(state.read({buffer, size}));
            } catch (...) {
                state.failure = std::current_exception();
            }
        }
        errno = EIO;
        return -1;
    };
    state_->file.reset(::fopencookie(state_.get(), "r", functions));
    if (!state_->file) {
        throw errno_error(path.string(), errno);
    }
}

MetadataStream::~MetadataStream() = default;

FILE* MetadataStream::get() const noexcept {
    return state_->file.get();
}

void MetadataStream::check() const {
    if (state_->failure) {
        std::rethrow_exception(state_->failure);
    }
}

std::string read_metadata_file(const std::string& repository, const fs::path& path,
                               std::uint64_t open_size) {
    Decompressor content = open_compressed(repository, path, open_size, largest_in_memory);
    std::string result;
    std::string block(std::size_t{1} << 16U, '\0');
    while (const std::size_t got = content.read(block)) {
        result.append(block, 0, got);
    }
    return result;
}

}  // namespace edgegpu
