#include "customise/accounts/device_accounts.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "customise/units/vendor_unit.hpp"
#include "image/account_files.hpp"

namespace edgegpu {

namespace {

constexpr const char* directory = "/usr/lib/edgegpu/accounts";
constexpr const char* program = "/usr/libexec/edgegpu/accounts";
/// As in the program.
constexpr const char* seen = "/etc/edgegpu/accounts-seen";

constexpr const char* unit_text = R"([Unit]
Description=Users and groups of the image
DefaultDependencies=no
ConditionPathIsReadWrite=/etc
Conflicts=shutdown.target
After=local-fs.target systemd-sysusers.service
# Homes are made by systemd-tmpfiles, which has to know their owners.
Before=systemd-tmpfiles-setup.service sysinit.target shutdown.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/libexec/edgegpu/accounts
)";

constexpr const char* program_text = R"sh(#!/bin/sh
# Makes on this device the users and groups that its image declares and its own /etc lacks: ostree
# keeps account files that were changed here, so that those of a newer image never arrive. What was
# seen once and is gone or different now was the operator's decision, and stays.
declared=/usr/lib/edgegpu/accounts
seen=/etc/edgegpu/accounts-seen
status=0

say() {
    echo "$*" >&2
}

fail() {
    say "$*"
    status=1
}

line_of() { # FILE NAME: its line
    [ -r "$1" ] || return 1
    while IFS= read -r line || [ -n "$line" ]; do
        case $line in
        "$2:"*) printf '%s\n' "$line"; return 0 ;;
        esac
    done <"$1"
    return 1
}

# Accounts below /usr count where the name service looks there.
altfiles=
while read -r key words; do
    case $key:$words in
    passwd::*altfiles*) altfiles=1 ;;
    esac
done </etc/nsswitch.conf

account() { # passwd|group NAME: its line
    line_of "/etc/$1" "$2" || { [ -n "$altfiles" ] && line_of "/usr/lib/$1" "$2"; }
}

holder() { # passwd|group NUMBER: who has it
    for file in "/etc/$1" ${altfiles:+"/usr/lib/$1"}; do
        [ -r "$file" ] || continue
        while IFS=: read -r entry _ number _; do
            if [ "$number" = "$2" ]; then
                echo "$entry"
                return 0
            fi
        done <"$file"
    done
    return 1
}

was_seen() {
    line_of "$seen" "$1" >/dev/null
}

remember() {
    was_seen "$1" && return
    mkdir -p "${seen%/*}" && echo "$1:" >>"$seen"
}

member() { # USER GROUP
    entry=$(account group "$2") || return 1
    case ,${entry##*:}, in
    *",$1,"*) return 0 ;;
    esac
    return 1
}

make_group() { # NAME GID fixed|free
    if account group "$1" >/dev/null; then
        remember "group $1"
        return
    fi
    if was_seen "group $1"; then
        return
    fi
    name=$1 gid=$2 fixed=$3
    set -- -g "$gid"
    if other=$(holder group "$gid"); then
        if [ "$fixed" = fixed ]; then
            fail "group $name is not made: gid $gid belongs to $other on this device"
            return
        fi
        say "group $name gets another gid than in the image: $gid belongs to $other"
        set --
    fi
    if groupadd "$@" "$name" </dev/null; then
        say "group $name is made"
        remember "group $name"
    else
        fail "group $name could not be made"
    fi
}

make_user() { # reads the fields of one line of $declared/users
    if account passwd "$name" >/dev/null; then
        # The one file may be the image's and the other the device's.
        if ! line_of /etc/shadow "$name" >/dev/null; then
            pwconv </dev/null && set_password
        fi
        remember "user $name"
        return 0
    fi
    if was_seen "user $name"; then
        return 1
    fi
    set -- -u "$uid"
    if other=$(holder passwd "$uid"); then
        if [ "$fixed" = fixed ]; then
            fail "user $name is not made: uid $uid belongs to $other on this device"
            return 1
        fi
        say "user $name gets another uid than in the image: $uid belongs to $other"
        set --
    fi
    if useradd -M -N "$@" -g "$group" -d "$home" -s "$shell" -c "$description" \
        -K SUB_UID_COUNT=0 -K SUB_GID_COUNT=0 "$name" </dev/null && set_password; then
        say "user $name is made"
        remember "user $name"
        return 0
    fi
    fail "user $name could not be made"
    return 1
}

set_password() {
    hash=$(line_of "$declared/passwords" "$name") || return 0
    set -- -p "${hash#*:}"
    [ -z "$expire" ] || set -- "$@" -e "$expire"
    usermod "$@" "$name" </dev/null || return 1
    [ -z "$reset" ] || chage -d 0 "$name" </dev/null
}

join_group() { # USER GROUP
    if member "$1" "$2"; then
        remember "member $1 $2"
        return
    fi
    if was_seen "member $1 $2"; then
        return
    fi
    if ! line_of /etc/group "$2" >/dev/null; then
        # usermod adds members to /etc/group only. Appending keeps the file's label.
        account group "$2" >>/etc/group || { fail "user $1: no group $2"; return; }
    fi
    if usermod -a -G "$2" "$1" </dev/null; then
        say "user $1 joins group $2"
        remember "member $1 $2"
    else
        fail "user $1 could not join group $2"
    fi
}

give_range() { # /etc/subuid|/etc/subgid OPTION USER FIRST
    if line_of "$1" "$3" >/dev/null; then
        remember "range $3 $1"
        return
    fi
    if [ ! -e "$1" ] || [ -z "$4" ] || was_seen "range $3 $1"; then
        return
    fi
    first=$4 beyond=$4 taken=
    while IFS=: read -r _ start count; do
        case $start$count in
        '' | *[!0-9]*) continue ;;
        esac
        [ $((start + count)) -le "$beyond" ] || beyond=$((start + count))
        if [ "$start" -lt $((first + 65536)) ] && [ $((start + count)) -gt "$first" ]; then
            taken=1
        fi
    done <"$1"
    [ -z "$taken" ] || first=$beyond
    if usermod "$2" "$first-$((first + 65535))" "$3" </dev/null; then
        remember "range $3 $1"
    else
        fail "user $3 gets no range of $1"
    fi
}

# In an order that lets a user's own group exist before the user.
while IFS=: read -r name gid fixed; do
    make_group "$name" "$gid" "$fixed"
done <"$declared/groups"

while IFS=: read -r name uid fixed group home shell expire reset subuid subgid groups description; do
    make_user || continue
    give_range /etc/subuid --add-subuids "$name" "$subuid"
    give_range /etc/subgid --add-subgids "$name" "$subgid"
    while [ -n "$groups" ]; do
        join_group "$name" "${groups%%,*}"
        case $groups in
        *,*) groups=${groups#*,} ;;
        *) groups= ;;
        esac
    done
done <"$declared/users"

# A sshd_config of the device's own may have lost the image's keys.
if [ -f /etc/ssh/sshd_config ] && [ -d /usr/share/edgegpu/authorized_keys.d ] &&
    ! grep -qs '^[^#]*/usr/share/edgegpu/authorized_keys.d' /etc/ssh/sshd_config \
        /etc/ssh/sshd_config.d/*.conf; then
    say "sshd does not read the image's keys: add /usr/share/edgegpu/authorized_keys.d/%u to" \
        "AuthorizedKeysFile in /etc/ssh/sshd_config"
fi
exit $status
)sh";

std::string group_name(const AccountFile& groups, const std::string& gid) {
    for (const AccountFile::Row& row : groups.rows) {
        if (row.size() > 2 && row[2] == gid) {
            return row.front();
        }
    }
    return gid;
}

/// First number of a range of subuid(5), or empty.
std::string range_start(const AccountFile& file, const std::string& user) {
    const AccountFile::Row* row = file.find(user);
    return row != nullptr && row->size() == 3 ? (*row)[1] : "";
}

/// NAME:GID:fixed|free of the blueprint's groups and those of its users.
std::string declare_groups(const std::vector<UserRequest>& users,
                           const std::vector<GroupRequest>& groups, const AccountFile& passwd,
                           const AccountFile& group) {
    std::set<std::string> done;
    std::string text;
    const auto add = [&](const std::string& name, bool fixed) {
        const AccountFile::Row* row = group.find(name);
        if (row != nullptr && done.insert(name).second) {
            text += fmt::format("{}:{}:{}\n", name, (*row)[2], fixed ? "fixed" : "free");
        }
    };
    for (const GroupRequest& request : groups) {
        add(request.name, request.gid.has_value());
    }
    for (const UserRequest& request : users) {
        const AccountFile::Row& user = *passwd.find(request.name);
        add(group_name(group, user[3]), request.gid.has_value());
    }
    return text;
}

/// NAME:UID:fixed|free:GROUP:HOME:SHELL:EXPIRE:RESET:SUBUID:SUBGID:GROUPS:DESCRIPTION
std::string declare_users(const std::vector<UserRequest>& users, const Tree& tree,
                          const AccountFile& passwd, const AccountFile& group) {
    const AccountFile subuid = read_accounts(tree, "/etc/subuid");
    const AccountFile subgid = read_accounts(tree, "/etc/subgid");
    std::string text;
    for (const UserRequest& request : users) {
        const AccountFile::Row& user = *passwd.find(request.name);
        text += fmt::format(
            "{}:{}:{}:{}:{}:{}:{}:{}:{}:{}:{}:{}\n", request.name, user[2],
            request.uid ? "fixed" : "free", group_name(group, user[3]), user[5], user[6],
            request.expire_date ? std::to_string(*request.expire_date) : "",
            request.force_password_reset ? "reset" : "", range_start(subuid, request.name),
            range_start(subgid, request.name), fmt::join(request.groups, ","), user[4]);
    }
    return text;
}

}  // namespace

void declare_accounts(const Context& ctx, const std::vector<UserRequest>& users,
                      const std::vector<GroupRequest>& groups, Tree& tree) {
    static constexpr std::array<std::string_view, 6> needed{
        "/usr/sbin/useradd", "/usr/sbin/usermod", "/usr/sbin/groupadd",
        "/usr/sbin/pwconv",  "/usr/bin/grep",     "/usr/lib/systemd/system/sysinit.target"};
    for (const std::string_view path : needed) {
        if (find_entry(tree, path) == nullptr) {
            ctx.console->warn(fmt::format(
                "users and groups of the blueprint do not reach devices whose own /etc/passwd was "
                "changed: the image has no {}",
                path));
            return;
        }
    }
    const AccountFile passwd = read_accounts(tree, "/etc/passwd");
    const AccountFile group = read_accounts(tree, "/etc/group");
    const AccountFile shadow = read_accounts(tree, "/etc/shadow");
    std::string passwords;
    for (const UserRequest& request : users) {
        const AccountFile::Row* row = shadow.find(request.name);
        passwords += fmt::format("{}:{}\n", request.name, row != nullptr ? (*row)[1] : "*");
    }
    const auto put = [&](const char* name, const std::string& text, unsigned mode) {
        put_entry(tree, fmt::format("{}/{}", directory, name), make_file_entry(ctx, text, mode));
    };
    put("groups", declare_groups(users, groups, passwd, group), 0644);
    put("users", declare_users(users, tree, passwd, group), 0644);
    put("passwords", passwords, 0600);
    put_entry(tree, program, make_file_entry(ctx, program_text, 0755));
    // What the program appends to keeps its label; a file that it made would get another type.
    put_entry(tree, seen, make_file_entry(ctx, "", 0644));
    add_vendor_unit(ctx, tree, "edgegpu-accounts.service", "sysinit.target", unit_text);
}

}  // namespace edgegpu
