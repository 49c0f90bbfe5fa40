#include "support/build_id.hpp"

#include <cstddef>
#include <exception>
#include <filesystem>
#include <optional>
#include <span>

#include <elf.h>
#include <link.h>

#include "support/digest.hpp"
#include "support/text.hpp"

namespace edgegpu {

namespace {

/// The GNU build id among the notes of a segment.
std::string build_id_in(std::span<const std::byte> notes) {
    constexpr std::string_view gnu("GNU\0", 4);
    const auto padded = [](std::size_t size) { return (size + 3U) & ~std::size_t{3}; };
    while (notes.size() >= sizeof(ElfW(Nhdr))) {
        const auto& note = *reinterpret_cast<const ElfW(Nhdr)*>(notes.data());
        const std::size_t begin = sizeof(note) + padded(note.n_namesz);
        const std::size_t end = begin + padded(note.n_descsz);
        if (end > notes.size()) {
            break;
        }
        const std::string_view name(reinterpret_cast<const char*>(notes.data()) + sizeof(note),
                                    note.n_namesz);
        if (note.n_type == NT_GNU_BUILD_ID && name == gnu) {
            return hexadecimal(
                {reinterpret_cast<const char*>(notes.data()) + begin, note.n_descsz});
        }
        notes = notes.subspan(end);
    }
    return {};
}

/// A loaded object to look for, and what was found.
struct Search {
    /// beginning of its file name; empty: the program itself, which has no name there
    std::string_view name;
    std::optional<std::string> found;
    std::exception_ptr failure;
};

std::string identity_of(const dl_phdr_info& object) {
    for (const auto& header : std::span(object.dlpi_phdr, object.dlpi_phnum)) {
        if (header.p_type == PT_NOTE) {
            const auto* begin =
                // NOLINTNEXTLINE(performance-no-int-to-ptr): that is how addresses are given
                reinterpret_cast<const std::byte*>(object.dlpi_addr + header.p_vaddr);
            std::string id = build_id_in({begin, header.p_memsz});
            if (!id.empty()) {
                return id;
            }
        }
    }
    const std::string_view path(object.dlpi_name);
    return sha256_file(path.empty() ? "/proc/self/exe" : std::filesystem::path(path));
}

int visit_object(dl_phdr_info* object, std::size_t /*size*/, void* data) noexcept {
    auto& search = *static_cast<Search*>(data);
    const std::string_view path(object->dlpi_name);
    const std::string_view name = path.substr(path.rfind('/') + 1);
    if (search.name.empty() ? !path.empty() : !name.starts_with(search.name)) {
        return 0;
    }
    try {
        search.found = identity_of(*object);
    } catch (...) {
        search.failure = std::current_exception();
    }
    return 1;
}

std::string find_object(std::string_view name) {
    Search search{name, {}, {}};
    ::dl_iterate_phdr(visit_object, &search);
    if (search.failure) {
        std::rethrow_exception(search.failure);
    }
    return search.found.value_or("");
}

}  // namespace

const std::string& program_build_id() {
    static const std::string id = find_object("");
    return id;
}

std::string library_build_id(std::string_view name) {
    return find_object(name);
}

}  // namespace edgegpu
