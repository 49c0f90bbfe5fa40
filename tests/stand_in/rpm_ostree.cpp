// A stand-in for rpm-ostree, for tests: of the booted system, `deploy REVISION`, also with
// --download-only, --cache-only, --skip-branch-check and --disallow-downgrade, `upgrade` with one
// of --check, --download-only and --cache-only, or without, `kargs`, `cleanup --pending` and
// `rollback`. What it does to deployments and arguments is done by libostree's own functions,
// called as rpm-ostree v2023.7 calls them, and the deployment that it stages is a real one; so it
// has the ways of that version. A new deployment has the arguments of the first deployment, staged
// ones among them, and the /etc of the booted one. A change of arguments is a new deployment of the
// same commit, so that it replaces the one to which a rollback would return. There is no daemon, no
// lock against other transactions, and no rpm in it.

#include <algorithm>
#include <cstring>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <ostree.h>

namespace {

template <typename T, auto Free>
struct Deleter {
    void operator()(T* value) const { Free(value); }
};
template <typename T, auto Free>
using Owned = std::unique_ptr<T, Deleter<T, Free>>;
template <typename T>
using Object = Owned<T, g_object_unref>;
using Arguments = Owned<OstreeKernelArgs, ostree_kernel_args_free>;
using Texts = Owned<char*, g_strfreev>;

/// Calls a GLib function with a GError at the end; throws what it reports.
template <typename Function, typename... Values>
void must(const Function& function, Values... values) {
    GError* problem = nullptr;
    if (!function(values..., &problem)) {
        const std::string message = problem != nullptr ? problem->message : "unknown";
        g_clear_error(&problem);
        throw std::runtime_error(message);
    }
}

/// The booted system's deployments.
class System {
public:
    System() : sysroot_(ostree_sysroot_new_default()) {
        must(ostree_sysroot_initialize, sysroot_.get());
        must([&](GError** e) {
            return ostree_sysroot_set_mount_namespace_in_use(sysroot_.get()),
                   ostree_sysroot_lock(sysroot_.get(), e);
        });
        must(ostree_sysroot_load, sysroot_.get(), static_cast<GCancellable*>(nullptr));
        booted_ = ostree_sysroot_get_booted_deployment(sysroot_.get());
        if (booted_ == nullptr) {
            throw std::runtime_error("This system was not booted via libostree");
        }
    }
    ~System() { ostree_sysroot_unlock(sysroot_.get()); }
    System(const System&) = delete;
    System& operator=(const System&) = delete;

    [[nodiscard]] std::string arguments() const {
        return ostree_bootconfig_parser_get(ostree_deployment_get_bootconfig(first()), "options");
    }

    /// The commit of the first deployment.
    [[nodiscard]] std::string commit() const { return ostree_deployment_get_csum(first()); }

    /// With `commit` of `deploy`, the origin has it as its "override-commit".
    void stage(const std::string& revision, char** arguments, const std::string& pinned = "") {
        char* found = nullptr;
        must(ostree_repo_resolve_rev, ostree_sysroot_repo(sysroot_.get()), revision.c_str(), FALSE,
             &found);
        const Owned<char, g_free> commit(found);
        GKeyFile* const followed = ostree_deployment_get_origin(first());
        ostree_deployment_origin_remove_transient_state(followed);
        if (!pinned.empty()) {
            g_key_file_set_string(followed, "origin", "override-commit", pinned.c_str());
        }
        OstreeDeployment* staged = nullptr;
        must(ostree_sysroot_stage_tree, sysroot_.get(), ostree_deployment_get_osname(booted_),
             found, followed, booted_, arguments, &staged, static_cast<GCancellable*>(nullptr));
        g_clear_object(&staged);
    }

    /// Pulls the ref of the first deployment's origin, or `wanted` as a commit of it, as
    /// rpmostree_sysroot_upgrader_pull_base does; whether that is another commit.
    bool pull(OstreeRepoPullFlags flags, const char* wanted = nullptr, bool older = false) {
        const Owned<char, g_free> refspec(origin());
        char* remote = nullptr;
        char* ref = nullptr;
        must(ostree_parse_refspec, refspec.get(), &remote, &ref);
        const Owned<char, g_free> owned_remote(remote);
        const Owned<char, g_free> owned_ref(ref);
        GVariantDict options;
        g_variant_dict_init(&options, nullptr);
        g_variant_dict_insert(&options, "flags", "i", static_cast<gint32>(flags));
        if (!older) {
            g_variant_dict_insert(&options, "timestamp-check", "b", TRUE);
            if (wanted != nullptr) {
                must(ostree_repo_set_ref_immediate, ostree_sysroot_repo(sysroot_.get()), remote,
                     static_cast<const char*>(ref), commit().c_str(),
                     static_cast<GCancellable*>(nullptr));
            }
        }
        if (wanted != nullptr) {
            const char* const commits[] = {wanted, nullptr};
            g_variant_dict_insert_value(&options, "override-commit-ids",
                                        g_variant_new_strv(commits, -1));
        }
        const char* const refs[] = {ref, nullptr};
        g_variant_dict_insert_value(&options, "refs", g_variant_new_strv(refs, -1));
        const Owned<GVariant, g_variant_unref> values(
            g_variant_ref_sink(g_variant_dict_end(&options)));
        must(ostree_repo_pull_with_options, ostree_sysroot_repo(sysroot_.get()), remote,
             values.get(), static_cast<OstreeAsyncProgress*>(nullptr),
             static_cast<GCancellable*>(nullptr));
        return changed(wanted != nullptr ? wanted : refspec.get(), older);
    }

    /// Throws unless the commit is one of those that the ref of the origin has or had, as
    /// rpmostreed_repo_lookup_checksum does.
    void look_up(const std::string& wanted) {
        static_cast<void>(pull(OSTREE_REPO_PULL_FLAGS_COMMIT_ONLY, nullptr, true));
        const Owned<char, g_free> refspec(origin());
        std::string at = refspec.get();
        char* found = nullptr;
        while (ostree_repo_resolve_rev(ostree_sysroot_repo(sysroot_.get()), at.c_str(), FALSE,
                                       &found, nullptr) != FALSE) {
            const Owned<char, g_free> owned(found);
            if (wanted == found) {
                return;
            }
            at = std::string(found) + "^";
        }
        throw std::runtime_error("Checksum " + wanted + " not found in " + refspec.get());
    }

    [[nodiscard]] bool changed() const {
        const Owned<char, g_free> refspec(origin());
        return changed(refspec.get(), false);
    }

    /// Whether the revision is another commit than the first deployment's. Throws if it is older,
    /// unless that is asked for.
    [[nodiscard]] bool changed(const char* revision, bool older) const {
        char* found = nullptr;
        must(ostree_repo_resolve_rev, ostree_sysroot_repo(sysroot_.get()), revision, FALSE, &found);
        const Owned<char, g_free> owned(found);
        if (commit() != found && !older) {
            must(ostree_sysroot_upgrader_check_timestamps, ostree_sysroot_repo(sysroot_.get()),
                 commit().c_str(), static_cast<const char*>(found));
        }
        return commit() != found;
    }

    /// The refspec that the first deployment follows.
    [[nodiscard]] char* origin() const {
        char* refspec = g_key_file_get_string(ostree_deployment_get_origin(first()), "origin",
                                              "refspec", nullptr);
        if (refspec == nullptr) {
            throw std::runtime_error("No refspec");
        }
        return refspec;
    }

    /// Removes what is started before the booted deployment.
    void remove_pending() {
        const Owned<GPtrArray, g_ptr_array_unref> all(
            ostree_sysroot_get_deployments(sysroot_.get()));
        const Owned<GPtrArray, g_ptr_array_unref> kept(
            g_ptr_array_new_with_free_func(g_object_unref));
        bool reached = false;
        for (guint i = 0; i < all->len; ++i) {
            auto* deployment = static_cast<OstreeDeployment*>(g_ptr_array_index(all.get(), i));
            reached = reached || ostree_deployment_equal(deployment, booted_) != FALSE;
            if (reached) {
                g_ptr_array_add(kept.get(), g_object_ref(deployment));
            }
        }
        must(ostree_sysroot_write_deployments, sysroot_.get(), kept.get(),
             static_cast<GCancellable*>(nullptr));
    }

    void roll_back() {
        OstreeDeployment* pending = nullptr;
        OstreeDeployment* older = nullptr;
        ostree_sysroot_query_deployments_for(sysroot_.get(), ostree_deployment_get_osname(booted_),
                                             &pending, &older);
        const Object<OstreeDeployment> owned_pending(pending);
        const Object<OstreeDeployment> owned_older(older);
        if (pending == nullptr && older == nullptr) {
            throw std::runtime_error("No rollback deployment found");
        }
        if (pending != nullptr && ostree_deployment_is_staged(pending) != FALSE) {
            throw std::runtime_error("Staged deployment (remove with cleanup -p)");
        }
        OstreeDeployment* wanted = older != nullptr ? older : booted_;
        const Owned<GPtrArray, g_ptr_array_unref> all(
            ostree_sysroot_get_deployments(sysroot_.get()));
        const Owned<GPtrArray, g_ptr_array_unref> moved(
            g_ptr_array_new_with_free_func(g_object_unref));
        g_ptr_array_add(moved.get(), g_object_ref(wanted));
        for (guint i = 0; i < all->len; ++i) {
            auto* deployment = static_cast<OstreeDeployment*>(g_ptr_array_index(all.get(), i));
            if (ostree_deployment_equal(deployment, wanted) == FALSE) {
                g_ptr_array_add(moved.get(), g_object_ref(deployment));
            }
        }
        must(ostree_sysroot_write_deployments, sysroot_.get(), moved.get(),
             static_cast<GCancellable*>(nullptr));
    }

private:
    [[nodiscard]] OstreeDeployment* first() const {
        const Owned<GPtrArray, g_ptr_array_unref> all(
            ostree_sysroot_get_deployments(sysroot_.get()));
        return static_cast<OstreeDeployment*>(g_ptr_array_index(all.get(), 0));
    }

    Object<OstreeSysroot> sysroot_;
    OstreeDeployment* booted_ = nullptr;
};

/// Prints the arguments, or stages the same commit with changed ones.
void kargs(const std::vector<std::string>& words) {
    System system;
    const Arguments arguments(ostree_kernel_args_from_string(system.arguments().c_str()));
    for (const std::string& word : words) {
        if (word.starts_with("--append=")) {
            ostree_kernel_args_append(arguments.get(), word.c_str() + std::strlen("--append="));
        } else if (word.starts_with("--delete=")) {
            must(ostree_kernel_args_delete, arguments.get(),
                 word.c_str() + std::strlen("--delete="));
        } else {
            throw std::runtime_error("Unknown option " + word);
        }
    }
    if (words.empty()) {
        std::cout << system.arguments() << "\n";
    } else {
        const Texts texts(ostree_kernel_args_to_strv(arguments.get()));
        system.stage(system.commit(), texts.get());
    }
}

void deploy(const std::string& revision);

/// The exit status.
int upgrade(const std::string& option) {
    std::string refspec;
    {
        System system;
        const bool changed =
            option == "--cache-only"
                ? system.changed()
                : system.pull(option == "--check" ? OSTREE_REPO_PULL_FLAGS_COMMIT_ONLY
                                                  : OSTREE_REPO_PULL_FLAGS_NONE);
        if (!changed) {
            std::cout << "No upgrade available.\n";
            return option == "--check" ? 77 : 0;
        }
        if (option == "--check") {
            std::cout << "AvailableUpdate:\n";
        }
        if (option == "--check" || option == "--download-only") {
            return 0;
        }
        const Owned<char, g_free> owned(system.origin());
        refspec = owned.get();
    }
    deploy(refspec);
    return 0;
}

void deploy(const std::string& revision) {
    System system;
    const Texts texts(g_strsplit(system.arguments().c_str(), " ", -1));
    system.stage(revision, texts.get());
}

/// `deploy` of the checksum of a commit.
void deploy_commit(const std::string& commit, const std::vector<std::string>& options) {
    const auto has = [&](const char* option) {
        return std::find(options.begin(), options.end(), option) != options.end();
    };
    System system;
    if (!has("--skip-branch-check")) {
        system.look_up(commit);
    }
    const bool older = !has("--disallow-downgrade");
    const bool changed = has("--cache-only")
                             ? system.changed(commit.c_str(), older)
                             : system.pull(OSTREE_REPO_PULL_FLAGS_NONE, commit.c_str(), older);
    if (!changed) {
        std::cout << "No change.\n";
    } else if (!has("--download-only")) {
        const Texts texts(g_strsplit(system.arguments().c_str(), " ", -1));
        system.stage(commit, texts.get(), commit);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    try {
        if (words == std::vector<std::string>{"rollback"}) {
            System().roll_back();
        } else if (words == std::vector<std::string>{"cleanup", "--pending"}) {
            System().remove_pending();
        } else if (words.size() >= 2 && words[0] == "deploy") {
            if (ostree_validate_checksum_string(words.back().c_str(), nullptr) != FALSE) {
                deploy_commit(words.back(), {words.begin() + 1, words.end() - 1});
            } else {
                deploy(words[1]);
            }
        } else if ((words.size() == 1 || words.size() == 2) && words[0] == "upgrade") {
            return upgrade(words.size() == 2 ? words[1] : "");
        } else if (!words.empty() && words[0] == "kargs") {
            kargs({words.begin() + 1, words.end()});
        } else {
            throw std::runtime_error("the stand-in has no such command");
        }
    } catch (const std::exception& problem) {
        std::cerr << "error: " << problem.what() << "\n";
        return 1;
    }
    return 0;
}
