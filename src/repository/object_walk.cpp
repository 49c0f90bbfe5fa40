#include "repository/object_walk.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "execution/parallel.hpp"
#include "repository/ostree_object.hpp"
#include "support/glib.hpp"

namespace edgegpu {

namespace {

/// Linux's PATH_MAX: no image has longer ones, and a hostile tree could be any number of
/// directories deep.
constexpr std::size_t longest_path = 4095;

std::string path_below(const std::string& directory, std::string_view name) {
    std::string path = directory == "/" ? "" : directory;
    if (path.size() + name.size() < longest_path) {
        path.append("/").append(name);
    } else if (!path.ends_with("/…")) {
        path.append("/…");
    }
    return path;
}

}  // namespace

ObjectWalk::ObjectWalk(const Context& ctx, const RepositoryView& repository, bool contents,
                       Repair repair)
    : ctx_(ctx), repository_(repository), contents_(contents), repair_(std::move(repair)) {}

bool ObjectWalk::reach(OstreeObjectType type, const std::string& checksum) {
    return reached_.insert(checksum + static_cast<char>('0' + type)).second;
}

bool ObjectWalk::reaches(OstreeObjectType type, const std::string& checksum) const {
    return reached_.contains(checksum + static_cast<char>('0' + type));
}

void ObjectWalk::add_fault(const TreeObject& object, ObjectState state, std::string detail,
                           bool repaired) {
    const std::lock_guard lock(mutex_);
    faults_.push_back({object, commit_, state, std::move(detail), repaired});
}

VariantHandle ObjectWalk::read(const TreeObject& object) {
    CheckedObject found = check_object(repository_.handle(), object);
    ++checked_;
    if (found.state == ObjectState::good) {
        return std::move(found.object);
    }
    CheckedObject again;
    again.state = ObjectState::missing;
    if (repair_ && repair_(object)) {
        again = check_object(repository_.handle(), object);
    }
    add_fault(object, found.state, found.detail, again.state == ObjectState::good);
    return std::move(again.object);
}

void ObjectWalk::check_file(const TreeObject& object) {
    const CheckedObject found = check_object(repository_.handle(), object);
    ++checked_;
    if (found.state != ObjectState::good) {
        const bool repaired = repair_ && repair_(object) &&
                              check_object(repository_.handle(), object).state == ObjectState::good;
        add_fault(object, found.state, found.detail, repaired);
    }
}

void ObjectWalk::read_level(const std::vector<TreeObject>& level, std::vector<TreeObject>& next,
                            std::vector<TreeObject>& leaves) {
    std::vector<VariantHandle> trees(level.size());
    parallel_for(ctx_, level.size(), [&](std::size_t i) { trees[i] = read(level[i]); });
    ctx_.check_cancelled();
    const auto add = [&](OstreeObjectType type, GVariant* item, gsize index,
                         const std::string& path, std::vector<TreeObject>& to) {
        std::string checksum = checksum_in(item, index);
        if (reach(type, checksum)) {
            to.push_back({type, std::move(checksum), path});
        }
    };
    for (std::size_t i = 0; i < level.size(); ++i) {
        for (const bool directories : {false, true}) {
            if (!trees[i]) {
                continue;
            }
            const VariantHandle items(
                g_variant_get_child_value(trees[i].get(), directories ? 1 : 0));
            for (const VariantHandle& item : children_of(items.get())) {
                const char* name = nullptr;
                g_variant_get_child(item.get(), 0, "&s", &name);
                const std::string path = path_below(level[i].path, name);
                if (directories) {
                    add(OSTREE_OBJECT_TYPE_DIR_TREE, item.get(), 1, path, next);
                    add(OSTREE_OBJECT_TYPE_DIR_META, item.get(), 2, path, leaves);
                } else {
                    add(OSTREE_OBJECT_TYPE_FILE, item.get(), 1, path, leaves);
                }
            }
        }
    }
}

void ObjectWalk::check_leaves(const std::vector<TreeObject>& leaves) {
    known_ += leaves.size();
    parallel_for(ctx_, leaves.size(), [&](std::size_t i) {
        if (leaves[i].type == OSTREE_OBJECT_TYPE_FILE) {
            check_file(leaves[i]);
        } else {
            static_cast<void>(read(leaves[i]));
        }
        if (ctx_.console != nullptr) {
            ctx_.console->progress(checked_, known_, "objects checked");
        }
    });
    ctx_.check_cancelled();
}

void ObjectWalk::walk_tree(GVariant* commit) {
    std::vector<TreeObject> level;
    std::vector<TreeObject> leaves;
    const std::string tree = checksum_in(commit, 6);
    const std::string meta = checksum_in(commit, 7);
    if (reach(OSTREE_OBJECT_TYPE_DIR_META, meta)) {
        leaves.push_back({OSTREE_OBJECT_TYPE_DIR_META, meta, "/"});
    }
    if (reach(OSTREE_OBJECT_TYPE_DIR_TREE, tree)) {
        level.push_back({OSTREE_OBJECT_TYPE_DIR_TREE, tree, "/"});
    }
    while (!level.empty()) {
        known_ += level.size();
        std::vector<TreeObject> next;
        read_level(level, next, leaves);
        level = std::move(next);
    }
    if (contents_) {
        check_leaves(leaves);
    }
}

bool ObjectWalk::add(const std::string& commit) {
    commit_ = commit;
    if (!reach(OSTREE_OBJECT_TYPE_COMMIT, commit)) {
        return true;
    }
    const std::size_t before = faults_.size();
    ++known_;
    const VariantHandle object = read({OSTREE_OBJECT_TYPE_COMMIT, commit, ""});
    if (object) {
        walk_tree(object.get());
    }
    // Threads have found them in any order.
    std::sort(faults_.begin() + static_cast<std::ptrdiff_t>(before), faults_.end(),
              [](const ObjectFault& one, const ObjectFault& other) {
                  return std::tie(one.object.path, one.object.checksum) <
                         std::tie(other.object.path, other.object.checksum);
              });
    return object && !repository_.is_partial(commit);
}

}  // namespace edgegpu
