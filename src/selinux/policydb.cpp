#include "selinux/policydb.hpp"

#include <cerrno>

#include <sepol/booleans.h>
#include <sepol/debug.h>
#include <sepol/handle.h>
#include <sepol/policydb.h>

#include "support/error.hpp"
#include "support/file.hpp"
#include "support/handles.hpp"

namespace edgegpu::selinux {

struct PolicyDb::Impl {
    Handle<sepol_handle_t, sepol_handle_destroy> handle{sepol_handle_create()};
    Handle<sepol_policydb_t, sepol_policydb_free> policy;
};

namespace {

Handle<sepol_policydb_t, sepol_policydb_free> new_policy() {
    sepol_policydb_t* raw = nullptr;
    if (sepol_policydb_create(&raw) < 0) {
        throw errno_error("sepol_policydb_create", ENOMEM);
    }
    return Handle<sepol_policydb_t, sepol_policydb_free>(raw);
}

/// C callback; gives libsepol no way to throw through its frames.
int note_boolean(const sepol_bool_t* boolean, void* argument) noexcept {
    try {
        auto& found = *static_cast<std::map<std::string, bool>*>(argument);
        found[sepol_bool_get_name(boolean)] = sepol_bool_get_value(boolean) != 0;
        return 0;
    } catch (...) {
        return -1;
    }
}

}  // namespace

PolicyDb::PolicyDb(const std::filesystem::path& path) : impl_(std::make_unique<Impl>()) {
    std::string content = read_file(path, 256U << 20U);
    if (!impl_->handle) {
        throw errno_error("sepol_handle_create", ENOMEM);
    }
    sepol_msg_set_callback(impl_->handle.get(), nullptr, nullptr);
    impl_->policy = new_policy();
    sepol_policy_file_t* raw = nullptr;
    if (sepol_policy_file_create(&raw) < 0) {
        throw errno_error("sepol_policy_file_create", ENOMEM);
    }
    const Handle<sepol_policy_file_t, sepol_policy_file_free> file(raw);
    sepol_policy_file_set_mem(file.get(), content.data(), content.size());
    sepol_policy_file_set_handle(file.get(), impl_->handle.get());
    if (sepol_policydb_read(impl_->policy.get(), file.get()) < 0) {
        throw error("{}: not a binary policy that can be read", path.string())
            .hinted("it may be newer than the builder's libsepol");
    }
}

PolicyDb::PolicyDb(PolicyDb&&) noexcept = default;
PolicyDb& PolicyDb::operator=(PolicyDb&&) noexcept = default;
PolicyDb::~PolicyDb() = default;

std::map<std::string, bool> PolicyDb::booleans() const {
    std::map<std::string, bool> result;
    if (sepol_bool_iterate(impl_->handle.get(), impl_->policy.get(), note_boolean, &result) < 0) {
        throw error("the booleans of the image's policy cannot be listed");
    }
    return result;
}

}  // namespace edgegpu::selinux
