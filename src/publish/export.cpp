#include "publish/export.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "commit/repository.hpp"
#include "installer/commit_signature.hpp"
#include "publish/deltas.hpp"
#include "publish/repository_archive.hpp"
#include "publish/summary_text.hpp"
#include "publish/verification.hpp"
#include "repository/object_files.hpp"
#include "repository/tree_objects.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"
#include "support/files/file_content.hpp"
#include "support/files/output.hpp"
#include "support/files/tar_writer.hpp"
#include "support/glib.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t largest_file_on_fat = (4ULL << 30U) - 1;

/// A ref, and what the devices have.
struct Consignment {
    CommitView commit;
    std::vector<CommitView> sources;
};

void require_free_name(const ExportRequest& request) {
    check_output_name(request.output);
    std::error_code failure;
    const fs::file_status status = fs::symlink_status(request.output, failure);
    if (!fs::status_known(status)) {
        throw errno_error(request.output.string(), failure.value());
    }
    if (fs::exists(status) && !fs::is_regular_file(status)) {
        throw error(ErrorKind::usage, "{}: is not a file", request.output.string())
            .hinted("a directory that devices can pull from is what edgegpu publish --to makes");
    }
    if (fs::exists(status) && !request.replace) {
        throw error(ErrorKind::usage, "{}: exists already", request.output.string())
            .hinted("--force replaces it, --output names another file");
    }
}

/// Devices verify it with the keys of the image that they run, if that is known.
void require_verifiable(const Context& ctx, const Consignment& consignment, Signer& signer) {
    for (const CommitView& source : consignment.sources) {
        require_acceptable(ctx, consignment.commit, source);
        require_summary_key(ctx, source, signer);
    }
    if (consignment.sources.empty()) {
        require_some_signature(consignment.commit);
        require_summary_key(ctx, consignment.commit, signer);
    }
}

std::vector<Consignment> open_consignments(const Context& ctx, const RepositoryView& repository,
                                           const ExportRequest& request, Signer& signer) {
    std::vector<Consignment> consignments;
    for (const std::string& ref : std::set(request.refs.begin(), request.refs.end())) {
        require_ref_name(ref);
        const std::string checksum = commit_of_ref(repository, ref);
        Consignment consignment{repository.commit_at(checksum, ref), {}};
        require_bound(consignment.commit, ref);
        require_deployable(consignment.commit.info());
        consignment.sources = delta_sources(ctx, repository, {ref, checksum},
                                            {request.since, std::nullopt, 0}, checksum);
        if (consignment.sources.empty() && !request.since.empty()) {
            throw error(ErrorKind::usage, "{}: there is no other version of {}", repository.path(),
                        ref)
                .hinted("without --since, devices can have anything");
        }
        require_verifiable(ctx, consignment, signer);
        consignments.push_back(std::move(consignment));
    }
    return consignments;
}

std::string name_of(const TreeObject& object) {
    return object_file_name(object.type, object.checksum);
}

/// Names of the objects that all of these commits have.
std::set<std::string> common_objects(const Context& ctx, const std::vector<CommitView>& commits) {
    std::set<std::string> common;
    for (const CommitView& commit : commits) {
        const TreeObjects objects = list_objects(ctx, commit);
        std::set<std::string> names;
        for (const std::vector<TreeObject>* list : {&objects.files, &objects.directories}) {
            std::ranges::transform(*list, std::inserter(names, names.end()), name_of);
        }
        if (&commit == &commits.front()) {
            common = std::move(names);
        } else {
            std::erase_if(common, [&](const std::string& name) { return !names.contains(name); });
        }
    }
    return common;
}

/// Makes the archive in a directory beside its name.
class ExportWriter {
public:
    ExportWriter(const Context& ctx, Stages& stages, const RepositoryView& repository,
                 const ExportRequest& request, Signer& signer)
        : ctx_(ctx),
          stages_(stages),
          repository_(repository),
          request_(request),
          signer_(signer),
          unfinished_(request.output),
          archive_(repository) {}

    Exported write(const std::vector<Consignment>& consignments) {
        for (const Consignment& consignment : consignments) {
            const CommitInfo& info = consignment.commit.info();
            ExportedRef ref{info.name, info, {}, false};
            ref.is_signed = is_signed(consignment.commit);
            for (const CommitView& source : consignment.sources) {
                ref.since.push_back(source.info().checksum);
            }
            exported_.refs.push_back(std::move(ref));
        }
        put_objects(consignments);
        put_refs(consignments);
        stages_.begin("write", "writing the archive of");
        const fs::path path = unfinished_.file("archive");
        write_archive(path);
        require_signatures(consignments);
        give_name(path);
        stages_.end(human_size(exported_.bytes));
        return std::move(exported_);
    }

private:
    void put_objects(const std::vector<Consignment>& consignments) {
        stages_.begin("check", "comparing the objects of");
        for (const auto& [commit, sources] : consignments) {
            const std::string& checksum = commit.info().checksum;
            const TreeObjects objects = list_objects(ctx_, commit);
            const std::set<std::string> present = common_objects(ctx_, sources);
            for (const std::vector<TreeObject>* list : {&objects.files, &objects.directories}) {
                std::vector<TreeObject> lacking;
                std::ranges::copy_if(
                    *list, std::back_inserter(lacking),
                    [&](const TreeObject& object) { return !present.contains(name_of(object)); });
                archive_.put_objects(ctx_, commit, lacking);
            }
            archive_.put_objects(ctx_, commit, {{OSTREE_OBJECT_TYPE_COMMIT, checksum, "commit"}});
            if (const VariantHandle detached = commit.detached_metadata()) {
                archive_.put(
                    "objects/" + object_file_name(OSTREE_OBJECT_TYPE_COMMIT_META, checksum),
                    std::string(bytes_of(detached.get())));
            }
        }
        stages_.end(fmt::format("{} objects", archive_.objects()));
    }

    void put_refs(const std::vector<Consignment>& consignments) {
        const std::string collection = collection_of(repository_);
        std::vector<const CommitView*> commits;
        for (const Consignment& consignment : consignments) {
            const CommitInfo& info = consignment.commit.info();
            archive_.put("refs/heads/" + info.name, info.checksum + '\n');
            commits.push_back(&consignment.commit);
        }
        // libostree opens no repository without them.
        for (const char* name : {"objects", "refs/remotes", "state", "tmp"}) {
            archive_.put_directory(name);
        }
        archive_.put("config",
                     "[core]\nrepo_version=1\nmode=archive-z2\n" +
                         (collection.empty() ? "" : fmt::format("collection-id={}\n", collection)));
        if (signer_.signs_commits()) {
            const std::string summary = summary_of(commits, collection);
            archive_.put("summary", summary);
            const VariantHandle signatures =
                with_signatures(nullptr, signer_.sign_summary(summary));
            archive_.put("summary.sig", std::string(bytes_of(signatures.get())));
        }
    }

    /// Before hours of writing to a stick.
    void require_space(const Fd& file) const {
        const std::string place = request_.output.string();
        struct statvfs space {};
        struct statfs system {};
        if (::fstatvfs(file.get(), &space) != 0 || ::fstatfs(file.get(), &system) != 0) {
            throw errno_error(place, errno);
        }
        const std::uint64_t bytes = archive_.bytes();
        if (system.f_type == MSDOS_SUPER_MAGIC && bytes > largest_file_on_fat) {
            throw error("{}: it needs {}, and its file system has no such large files", place,
                        human_size(bytes))
                .hinted("FAT has none of 4 GiB: format the medium with exFAT or ext4");
        }
        // Of some file systems of programs nothing is known.
        if (space.f_blocks != 0 && bytes > space.f_bavail * std::uint64_t{space.f_frsize}) {
            throw error("{}: it needs {}, and {} are free", place, human_size(bytes),
                        human_size(space.f_bavail * std::uint64_t{space.f_frsize}))
                .hinted("free some space, or name a file elsewhere with --output");
        }
    }

    /// The whole archive, without its name.
    void write_archive(const fs::path& path) {
        const Fd file = open_file(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
        require_space(file);
        Sha256 digest;
        TarWriter tar([&](std::string_view piece) {
            if (!write_all(file.get(), piece)) {
                throw write_error(request_.output.string(), request_.output.string(), errno);
            }
            digest.update(piece);
            exported_.bytes += piece.size();
        });
        archive_.write(ctx_, tar);
        exported_.objects = archive_.objects();
        exported_.sha256 = digest.hex();
        if (::fsync(file.get()) != 0) {
            throw write_error(request_.output.string(), request_.output.string(), errno);
        }
        ctx_.check_cancelled();
    }

    /// Where nothing is known of what devices run, with the keys of the image itself. After its
    /// objects were read: of a damaged one it is said that it is damaged.
    void require_signatures(const std::vector<Consignment>& consignments) const {
        for (const Consignment& consignment : consignments) {
            if (consignment.sources.empty()) {
                require_acceptable(ctx_, consignment.commit, consignment.commit);
            }
        }
    }

    void give_name(const fs::path& path) const {
        const fs::path parent =
            request_.output.has_parent_path() ? request_.output.parent_path() : fs::path(".");
        const unsigned flags = request_.replace ? 0U : unsigned{RENAME_NOREPLACE};
        int renamed = ::renameat2(AT_FDCWD, path.c_str(), AT_FDCWD, request_.output.c_str(), flags);
        if (renamed != 0 && errno == EINVAL) {  // file systems of programs, such as exFAT's of fuse
            renamed = ::renameat(AT_FDCWD, path.c_str(), AT_FDCWD, request_.output.c_str());
        }
        const Fd directory(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (renamed != 0 || ::fsync(directory.get()) != 0) {
            throw errno_error(request_.output.string(), errno);
        }
    }

    const Context& ctx_;
    Stages& stages_;
    const RepositoryView& repository_;
    const ExportRequest& request_;
    Signer& signer_;
    Unfinished unfinished_;
    RepositoryArchive archive_;
    Exported exported_;
};

}  // namespace

Exported export_refs(const Context& ctx, Stages& stages, const RepositoryView& repository,
                     const ExportRequest& request, Signer& signer) {
    stages.begin_quietly("plan", "checking");
    require_free_name(request);
    repository.require_own_objects();
    const SharedLock lock(ctx, repository);
    const std::vector<Consignment> consignments =
        open_consignments(ctx, repository, request, signer);
    stages.end("");
    try {
        return ExportWriter(ctx, stages, repository, request, signer).write(consignments);
    } catch (Error& failure) {
        hint_at_full_disk(failure);
        throw;
    }
}

}  // namespace edgegpu
