#pragma once

#include "blueprint/accounts.hpp"
#include "blueprint/fields/field.hpp"

/// Fields of the blueprint's accounts.
namespace edgegpu {

consteval auto fields_of(const UserRequest*) {
    using User = UserRequest;
    return all_fields_of<User>(
        input("name", &User::name), input("description", &User::description),
        input<Shown::secret>("password", &User::password), input<Shown::secret>("key", &User::key),
        input("home", &User::home), input("shell", &User::shell),
        unordered_input("groups", &User::groups), input("uid", &User::uid),
        input("gid", &User::gid), input("expiredate", &User::expire_date),
        input("force_password_reset", &User::force_password_reset), place(&User::location));
}

consteval auto fields_of(const GroupRequest*) {
    using Group = GroupRequest;
    return all_fields_of<Group>(input("name", &Group::name), input("gid", &Group::gid),
                                place(&Group::location));
}

consteval auto fields_of(const AccountsRequest*) {
    using Accounts = AccountsRequest;
    return all_fields_of<Accounts>(input("login", &Accounts::login),
                                   input("users", &Accounts::uids),
                                   input("groups", &Accounts::gids), place(&Accounts::location));
}

}  // namespace edgegpu
