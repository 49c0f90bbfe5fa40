// A stand-in for rpm-ostree, for tests: `kargs` and `cleanup --pending` of the booted system's
// default deployment. What it does to the arguments is done by libostree's own functions, called in
// the order in which rpm-ostree v2023.7 calls them, and the deployment that it stages is a real
// one; so it errs where that version errs. There is no daemon, no lock against other transactions,
// and no rpm in it.
//
// STAND_IN_FAULT makes it misbehave, once it has something to change:
//   refuse   an error, nothing changed           (another transaction runs)
//   lie      says that it is done, nothing changed
//   late     does it, then reports an error      (the connection to the daemon broke)
//   cut      does it, then kills who called it   (power cut before the caller goes on)
//   silent   does not even print the arguments   (the daemon does not start)

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <ostree.h>
#include <unistd.h>

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

struct Options {
    std::vector<std::string> appended;
    std::vector<std::string> replaced;
    std::vector<std::string> deleted;
    std::vector<std::string> appended_if_missing;
    std::vector<std::string> deleted_if_present;
    [[nodiscard]] bool empty() const {
        return appended.empty() && replaced.empty() && deleted.empty() &&
               appended_if_missing.empty() && deleted_if_present.empty();
    }
};

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

Options read_options(const std::vector<std::string>& words) {
    Options options;
    const std::vector<std::pair<std::string, std::vector<std::string>*>> known = {
        {"--append=", &options.appended},
        {"--replace=", &options.replaced},
        {"--delete=", &options.deleted},
        {"--append-if-missing=", &options.appended_if_missing},
        {"--delete-if-present=", &options.deleted_if_present}};
    for (const std::string& word : words) {
        bool found = false;
        for (const auto& [name, values] : known) {
            if (word.starts_with(name)) {
                values->push_back(word.substr(name.size()));
                found = true;
            }
        }
        if (!found) {
            throw std::runtime_error("Unknown option " + word);
        }
    }
    if (!options.deleted.empty() && !options.replaced.empty()) {
        throw std::runtime_error("Cannot specify both --delete and --replace");
    }
    return options;
}

/// The order of v2023.7's daemon. True if it counts as a change.
bool patch(OstreeKernelArgs* arguments, const Options& options) {
    bool changed = false;
    for (const std::string& argument : options.deleted) {
        must(ostree_kernel_args_delete, arguments, argument.c_str());
        changed = true;
    }
    for (const std::string& argument : options.replaced) {
        must(ostree_kernel_args_new_replace, arguments, argument.c_str());
        changed = true;
    }
    for (const std::string& argument : options.appended) {
        ostree_kernel_args_append(arguments, argument.c_str());
        changed = true;
    }
    for (const std::string& argument : options.appended_if_missing) {
        if (!ostree_kernel_args_contains(arguments, argument.c_str())) {
            ostree_kernel_args_append_if_missing(arguments, argument.c_str());
            changed = true;
        }
    }
    for (const std::string& argument : options.deleted_if_present) {
        if (ostree_kernel_args_contains(arguments, argument.c_str())) {
            must(ostree_kernel_args_delete_if_present, arguments, argument.c_str());
            changed = true;
        }
    }
    return changed;
}

bool fault_is(const char* name) {
    const char* fault = std::getenv("STAND_IN_FAULT");
    return fault != nullptr && std::strcmp(fault, name) == 0;
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
        OstreeDeployment* pending = nullptr;
        ostree_sysroot_query_deployments_for(sysroot_.get(), ostree_deployment_get_osname(booted_),
                                             &pending, nullptr);
        pending_.reset(pending);
    }
    ~System() { ostree_sysroot_unlock(sysroot_.get()); }
    System(const System&) = delete;
    System& operator=(const System&) = delete;

    /// Those of the pending deployment; where none is, of the booted one.
    [[nodiscard]] std::string arguments() const {
        return ostree_bootconfig_parser_get(ostree_deployment_get_bootconfig(target()), "options");
    }

    void stage(OstreeKernelArgs* arguments) {
        const Texts texts(ostree_kernel_args_to_strv(arguments));
        OstreeDeployment* staged = nullptr;
        must(ostree_sysroot_stage_tree, sysroot_.get(), ostree_deployment_get_osname(booted_),
             ostree_deployment_get_csum(target()), ostree_deployment_get_origin(target()), booted_,
             texts.get(), &staged, static_cast<GCancellable*>(nullptr));
        g_clear_object(&staged);
    }

    void drop_pending() {
        if (!pending_) {
            return;
        }
        const Owned<GPtrArray, g_ptr_array_unref> all(
            ostree_sysroot_get_deployments(sysroot_.get()));
        const Owned<GPtrArray, g_ptr_array_unref> kept(
            g_ptr_array_new_with_free_func(g_object_unref));
        for (guint i = 0; i < all->len; ++i) {
            auto* deployment = static_cast<OstreeDeployment*>(g_ptr_array_index(all.get(), i));
            if (ostree_deployment_equal(deployment, pending_.get()) == FALSE) {
                g_ptr_array_add(kept.get(), g_object_ref(deployment));
            }
        }
        must(ostree_sysroot_write_deployments, sysroot_.get(), kept.get(),
             static_cast<GCancellable*>(nullptr));
    }

private:
    [[nodiscard]] OstreeDeployment* target() const { return pending_ ? pending_.get() : booted_; }

    Object<OstreeSysroot> sysroot_;
    OstreeDeployment* booted_ = nullptr;
    Object<OstreeDeployment> pending_;
};

void kargs(const std::vector<std::string>& words) {
    const Options options = read_options(words);
    if (fault_is("silent")) {
        throw std::runtime_error("Could not activate remote peer");
    }
    System system;
    if (options.empty()) {
        std::cout << system.arguments() << "\n";
        return;
    }
    if (fault_is("refuse")) {
        throw std::runtime_error("Transaction in progress: upgrade");
    }
    const Arguments arguments(ostree_kernel_args_from_string(system.arguments().c_str()));
    if (!patch(arguments.get(), options)) {
        std::cout << "No changes.\n";
        return;
    }
    if (!fault_is("lie")) {
        system.stage(arguments.get());
    }
    if (fault_is("late")) {
        throw std::runtime_error("Bus owner changed, aborting");
    }
    if (fault_is("cut")) {
        ::kill(::getppid(), SIGKILL);
        return;
    }
    std::cout << "Changes queued for next boot. Run \"systemctl reboot\" to start a reboot\n";
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<std::string> words(argv + 1, argv + argc);
    try {
        if (words == std::vector<std::string>{"cleanup", "--pending"}) {
            System().drop_pending();
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
