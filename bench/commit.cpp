// Commits one directory into an empty archive repository with edgegpu's own objects, dirtrees and
// staging, and with libostree, in one process: first, once more unchanged, and with one file
// changed. See bench/README.md.

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <glib.h>
#include <ostree.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "commit/commit.hpp"
#include "execution/parallel.hpp"
#include "image/deflate.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

struct Seconds {
    double elapsed = 0;
    double processor = 0;
};

double processor_seconds() {
    struct rusage usage {};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

template <typename Work>
Seconds measure(const Work& work) {
    const double before = processor_seconds();
    const auto began = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - began;
    return {elapsed.count(), processor_seconds() - before};
}

/// The directory as entries; contents are read and hashed on all cores, as the import of packages
/// does. Whatever ostree cannot carry is left out of both commits: the directory has none.
Entries read_entries(const Context& ctx, const fs::path& top) {
    Entries entries;
    std::vector<Entry*> files;
    const auto add = [&](const fs::path& path, const std::string& name) {
        struct stat status {};
        if (::lstat(path.c_str(), &status) != 0) {
            throw errno_error(path.string(), errno);
        }
        Entry entry;
        entry.mode = status.st_mode & 07777U;
        if (S_ISLNK(status.st_mode)) {
            entry.type = EntryType::symlink;
            entry.mode = 0777;
            entry.target = fs::read_symlink(path).string();
        } else if (S_ISDIR(status.st_mode)) {
            entry.type = EntryType::directory;
        } else if (S_ISREG(status.st_mode)) {
            entry.size = static_cast<std::uint64_t>(status.st_size);
            entry.content = path;
        } else {
            throw error("{}: neither file nor directory nor link", path.string());
        }
        Entry& kept = entries[name] = std::move(entry);
        if (kept.type == EntryType::file) {
            files.push_back(&kept);
        }
    };
    add(top, "/");
    for (const fs::directory_entry& item : fs::recursive_directory_iterator(top)) {
        add(item.path(), "/" + item.path().lexically_relative(top).string());
    }
    std::ranges::sort(files, [](const Entry* a, const Entry* b) { return a->size > b->size; });
    parallel_for(ctx, files.size(),
                 [&](std::size_t i) { files[i]->digest = sha256_file(files[i]->content); });
    return entries;
}

class Ours {
public:
    Ours(const fs::path& work, const fs::path& tree) : repo_(work / "edgegpu"), tree_(tree) {
        ctx_.cache = work / "cache";
        ctx_.console = &console_;
        ctx_.jobs = std::max(1U, std::thread::hardware_concurrency());
        ctx_.source_date_epoch = 1700000000;
        blueprint_.name = "bench";
        blueprint_.ostree.ref = "bench";
    }
    std::string commit() {
        Tree tree;
        tree.entries = read_entries(ctx_, tree_);
        const Repo repo(ctx_, repo_, blueprint_.ostree.ref);
        Signer signer;
        signer.allow(signing_request(blueprint_));
        const auto parent = read_parent(repo, blueprint_.ostree, signer);
        return write_commit(ctx_, blueprint_, {}, tree, repo, parent, "bench", signer).checksum;
    }

private:
    fs::path repo_;
    fs::path tree_;
    Console console_{Color::never, true};
    Context ctx_;
    Blueprint blueprint_;
};

/// As `ostree commit --canonical-permissions` does with a directory.
class Theirs {
public:
    Theirs(const fs::path& work, const fs::path& tree) : tree_(tree) {
        GFile* path = g_file_new_for_path((work / "libostree").c_str());
        repo_ = ostree_repo_new(path);
        g_object_unref(path);
        require(ostree_repo_create(repo_, OSTREE_REPO_MODE_ARCHIVE, nullptr, &problem_));
    }
    Theirs(const Theirs&) = delete;
    Theirs& operator=(const Theirs&) = delete;
    ~Theirs() { g_object_unref(repo_); }

    std::string commit() {
        require(ostree_repo_prepare_transaction(repo_, nullptr, nullptr, &problem_));
        OstreeMutableTree* tree = ostree_mutable_tree_new();
        OstreeRepoCommitModifier* modifier = ostree_repo_commit_modifier_new(
            static_cast<OstreeRepoCommitModifierFlags>(
                OSTREE_REPO_COMMIT_MODIFIER_FLAGS_SKIP_XATTRS |
                OSTREE_REPO_COMMIT_MODIFIER_FLAGS_CANONICAL_PERMISSIONS),
            nullptr, nullptr, nullptr);
        GFile* directory = g_file_new_for_path(tree_.c_str());
        require(ostree_repo_write_directory_to_mtree(repo_, directory, tree, modifier, nullptr,
                                                     &problem_));
        GFile* root = nullptr;
        require(ostree_repo_write_mtree(repo_, tree, &root, nullptr, &problem_));
        char* checksum = nullptr;
        require(ostree_repo_write_commit_with_time(repo_, nullptr, "bench", nullptr, nullptr,
                                                   OSTREE_REPO_FILE(root), 1700000000, &checksum,
                                                   nullptr, &problem_));
        ostree_repo_transaction_set_ref(repo_, nullptr, "bench", checksum);
        require(ostree_repo_commit_transaction(repo_, nullptr, nullptr, &problem_));
        require(ostree_repo_regenerate_summary(repo_, nullptr, nullptr, &problem_));
        std::string result = checksum;
        g_free(checksum);
        g_object_unref(root);
        g_object_unref(directory);
        ostree_repo_commit_modifier_unref(modifier);
        g_object_unref(tree);
        return result;
    }

private:
    void require(gboolean good) const {
        if (good == FALSE) {
            throw error("libostree: {}", problem_->message);
        }
    }

    fs::path tree_;
    OstreeRepo* repo_ = nullptr;
    GError* problem_ = nullptr;
};

void run(const fs::path& tree, const fs::path& work) {
    make_directories(work);
    Ours ours(work, tree);
    Theirs theirs(work, tree);
    const auto compare = [&](const char* what) {
        const Seconds theirs_took = measure([&] { theirs.commit(); });
        const Seconds ours_took = measure([&] { ours.commit(); });
        fmt::print(
            "{:<18} edgegpu {:7.2f} s ({:6.2f} s of processor)   libostree {:7.2f} s ({:6.2f})   "
            "ratio {:.2f} ({:.2f})\n",
            what, ours_took.elapsed, ours_took.processor, theirs_took.elapsed,
            theirs_took.processor, ours_took.elapsed / theirs_took.elapsed,
            ours_took.processor / theirs_took.processor);
    };
    compare("first");
    compare("unchanged");
    std::ofstream(tree / "bench-changed") << "another file\n";
    compare("one more file");
    fs::remove(tree / "bench-changed");
}

}  // namespace
}  // namespace edgegpu

int main(int count, char** arguments) {
    if (count != 3) {
        std::cerr << "usage: bench_commit DIRECTORY WORK\n"
                     "DIRECTORY gets a file, which is removed again; WORK must not exist.\n";
        return 2;
    }
    try {
        edgegpu::run(arguments[1], arguments[2]);
    } catch (const std::exception& problem) {
        std::cerr << problem.what() << '\n';
        return 1;
    }
    return 0;
}
