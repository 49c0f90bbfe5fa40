#include "repository/object_check.hpp"

#include <cstdint>
#include <optional>
#include <utility>

#include <sys/stat.h>

#include "repository/file_object.hpp"
#include "repository/ostree_object.hpp"
#include "support/files/digest.hpp"
#include "support/handles.hpp"
#include "support/text/enum_names.hpp"

namespace edgegpu {

namespace {

CheckedObject looked(const GlibFailure& failure) {
    const ObjectState state = failure.is(G_IO_ERROR_NOT_FOUND)       ? ObjectState::missing
                              : failure.is(G_IO_ERROR_PARTIAL_INPUT) ? ObjectState::truncated
                              : failure.is(G_IO_ERROR_INVALID_DATA)  ? ObjectState::malformed
                                                                     : ObjectState::unreadable;
    return {state, state == ObjectState::missing ? "" : failure.get()->message, nullptr};
}

bool has_structure(OstreeObjectType type, GVariant* object) {
    switch (type) {
        case OSTREE_OBJECT_TYPE_COMMIT:
            return ostree_validate_structureof_commit(object, nullptr) != FALSE;
        case OSTREE_OBJECT_TYPE_DIR_TREE:
            return ostree_validate_structureof_dirtree(object, nullptr) != FALSE;
        default:
            return ostree_validate_structureof_dirmeta(object, nullptr) != FALSE;
    }
}

/// The size of an object's file; nothing if it is no regular file.
std::optional<std::uint64_t> size_of(OstreeRepo* repo, const TreeObject& object) {
    GlibFailure failure;
    OstreeRepo* holder = nullptr;
    const char* extension = object.type == OSTREE_OBJECT_TYPE_FILE
                                ? "filez"
                                : ostree_object_type_to_string(object.type);
    const Fd file = open_object(repo, object.checksum, {extension, "file"}, holder, failure);
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
        return std::nullopt;
    }
    return static_cast<std::uint64_t>(status.st_size);
}

/// What cannot be read as an object was one once, with its checksum, if it is a file at all.
CheckedObject judged(OstreeRepo* repo, const TreeObject& object, CheckedObject found) {
    const std::optional<std::uint64_t> size = size_of(repo, object);
    if (size == 0U) {
        return {ObjectState::truncated, "it is empty", nullptr};
    }
    if (size && found.state == ObjectState::malformed) {
        found.state = ObjectState::checksum;
    }
    return found;
}

CheckedObject check_metadata(OstreeRepo* repo, const TreeObject& object) {
    GlibFailure failure;
    VariantHandle variant = load_object(repo, object.type, object.checksum, failure);
    if (!variant) {
        return judged(repo, object, looked(failure));
    }
    if (sha256_hex(bytes_of(variant.get())) != object.checksum) {
        return judged(repo, object, {ObjectState::checksum, "", nullptr});
    }
    if (!has_structure(object.type, variant.get())) {
        return {ObjectState::malformed, "it has its checksum, but no client accepts it", nullptr};
    }
    return {ObjectState::good, "", std::move(variant)};
}

CheckedObject check_file(OstreeRepo* repo, const TreeObject& object) {
    GlibFailure failure;
    const std::optional<FileObject> file = load_file_object(repo, object.checksum, failure);
    if (!file) {
        return judged(repo, object, looked(failure));
    }
    const std::string found = checksum_of(*file, failure);
    if (found.empty()) {
        return judged(repo, object, looked(failure));
    }
    return {found == object.checksum ? ObjectState::good : ObjectState::checksum, "", nullptr};
}

}  // namespace

std::string_view name_of(ObjectState state) {
    return nth_name(state, {"good", "missing", "truncated", "checksum", "malformed", "unreadable"});
}

CheckedObject check_object(OstreeRepo* repo, const TreeObject& object) {
    return object.type == OSTREE_OBJECT_TYPE_FILE ? check_file(repo, object)
                                                  : check_metadata(repo, object);
}

}  // namespace edgegpu
