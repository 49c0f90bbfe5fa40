#include "support/files/build_id.hpp"

#include <cstddef>
#include <exception>
#include <filesystem>
#include <set>
#include <span>

#include <elf.h>
#include <link.h>

#include "support/files/digest.hpp"
#include "support/text/text.hpp"

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

/// The build id of a loaded object; of one without, the digest of its file.
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

/// What the loaded objects are.
struct LoadedObjects {
    std::string program;
    /// of the libraries
    std::set<std::string> libraries;
    std::exception_ptr failure;
};

int visit_object(dl_phdr_info* object, std::size_t /*size*/, void* data) noexcept {
    auto& loaded = *static_cast<LoadedObjects*>(data);
    const std::string_view path(object->dlpi_name);
    try {
        if (path.empty()) {
            // The program itself has no name there, and comes first.
            loaded.program = loaded.program.empty() ? identity_of(*object) : loaded.program;
        } else if (path.starts_with('/')) {  // not the kernel's linux-vdso.so
            loaded.libraries.insert(identity_of(*object));
        }
    } catch (...) {
        loaded.failure = std::current_exception();
        return 1;
    }
    return 0;
}

const LoadedObjects& loaded_objects() {
    static const LoadedObjects loaded = [] {
        LoadedObjects found;
        ::dl_iterate_phdr(visit_object, &found);
        if (found.failure) {
            std::rethrow_exception(found.failure);
        }
        return found;
    }();
    return loaded;
}

}  // namespace

const std::string& program_build_id() {
    return loaded_objects().program;
}

const std::string& program_identity() {
    static const std::string identity = [] {
        Sha256 digest;
        digest.update_field(program_build_id());
        for (const std::string& library : loaded_objects().libraries) {
            digest.update_field(library);
        }
        return digest.hex().substr(0, 16);
    }();
    return identity;
}

}  // namespace edgegpu
