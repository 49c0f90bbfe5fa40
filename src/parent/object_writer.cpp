#include "parent/object_writer.hpp"

#include <utility>

#include <fmt/format.h>
#include <gio/gio.h>
#include <sys/stat.h>

namespace edgegpu {

namespace {

using WriterHandle = Handle<GOutputStream, g_object_unref>;

/// By default ostree writes nothing while less than 3 % of the file system are free, which on a
/// large disk are many times what an image needs.
bool create_repository(OstreeRepo* repo, GlibFailure& failure) {
    if (ostree_repo_create(repo, OSTREE_REPO_MODE_BARE_USER, nullptr, failure.out()) == FALSE) {
        return false;
    }
    const Handle<GKeyFile, g_key_file_unref> config(ostree_repo_copy_config(repo));
    g_key_file_set_string(config.get(), "core", "min-free-space-percent", "0");
    return ostree_repo_write_config(repo, config.get(), failure.out()) == TRUE &&
           ostree_repo_reload_config(repo, nullptr, failure.out()) == TRUE;
}

RepoHandle open_or_create(const std::filesystem::path& place, GlibFailure& failure) {
    const FileHandle file(g_file_new_for_path(place.c_str()));
    RepoHandle repo(ostree_repo_new(file.get()));
    const bool ready = std::filesystem::exists(place / "config")
                           ? ostree_repo_open(repo.get(), nullptr, failure.out()) == TRUE
                           : create_repository(repo.get(), failure);
    return ready ? std::move(repo) : RepoHandle();
}

}  // namespace

ObjectWriter::ObjectWriter(const Context& ctx, const std::filesystem::path& place,
                           std::string called)
    : cache_(ctx.cache.string()), called_(std::move(called)) {
    GlibFailure failure;
    repo_ = open_or_create(place, failure);
    if (!repo_ ||
        ostree_repo_prepare_transaction(repo_.get(), nullptr, nullptr, failure.out()) == FALSE) {
        throw failure.to_error(cache_, "the parent's repository");
    }
}

ObjectWriter::~ObjectWriter() {
    if (open_) {
        ostree_repo_abort_transaction(repo_.get(), nullptr, nullptr);
    }
}

Error ObjectWriter::written(const GlibFailure& failure, const std::string& what) const {
    return failure.to_error(cache_, fmt::format("image {}: {}", called_, what));
}

std::string ObjectWriter::add_metadata(OstreeObjectType type, const std::string& expected,
                                       GVariant* object) {
    GlibFailure failure;
    guchar* checksum = nullptr;
    const gboolean done =
        ostree_repo_write_metadata(repo_.get(), type, expected.empty() ? nullptr : expected.c_str(),
                                   object, &checksum, nullptr, failure.out());
    const Handle<guchar, g_free> owned(checksum);
    if (done == FALSE) {
        throw written(failure, "object " + expected);
    }
    const TextHandle text(ostree_checksum_from_bytes(checksum));
    return text.get();
}

std::string ObjectWriter::add_file(const std::string& expected, const FileHeader& header,
                                   const ContentSource& content) {
    GlibFailure failure;
    const char* wanted = expected.empty() ? nullptr : expected.c_str();
    const std::string what = expected.empty() ? "a file of it" : "object " + expected;
    if (!header.target.empty()) {
        const TextHandle made(ostree_repo_write_symlink(repo_.get(), wanted, header.uid, header.gid,
                                                        header.attributes, header.target.c_str(),
                                                        nullptr, failure.out()));
        if (!made) {
            throw written(failure, what);
        }
        return made.get();
    }
    const WriterHandle writer(G_OUTPUT_STREAM(ostree_repo_write_regfile(
        repo_.get(), wanted, header.uid, header.gid, S_IFREG | header.mode, header.size,
        header.attributes, failure.out())));
    if (!writer) {
        throw written(failure, what);
    }
    content([&](const char* data, std::size_t size) {
        if (g_output_stream_write_all(writer.get(), data, size, nullptr, nullptr, failure.out()) ==
            FALSE) {
            throw written(failure, what);
        }
    });
    const TextHandle made(
        ostree_content_writer_finish(OSTREE_CONTENT_WRITER(writer.get()), nullptr, failure.out()));
    if (!made) {
        throw written(failure, what);
    }
    return made.get();
}

void ObjectWriter::add_detached(const std::string& commit, GVariant* metadata) {
    GlibFailure failure;
    if (ostree_repo_write_commit_detached_metadata(repo_.get(), commit.c_str(), metadata, nullptr,
                                                   failure.out()) == FALSE) {
        throw written(failure, "signatures of " + commit);
    }
}

void ObjectWriter::commit() {
    GlibFailure failure;
    if (ostree_repo_commit_transaction(repo_.get(), nullptr, nullptr, failure.out()) == FALSE) {
        throw failure.to_error(cache_, "the parent's repository");
    }
    open_ = false;
}

}  // namespace edgegpu
