#include "rootfs/workplace.hpp"

#include <exception>

#include "image/overlay.hpp"
#include "rootfs/lower.hpp"
#include "support/files/file.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

Workplace::Workplace(const Context& ctx, const std::string& name)
    : directory_(fs::absolute(ctx.work() / name)),
      visible_(fs::absolute(ctx.visible() / (name + "-files"))) {
    clear();
    make_directories(directory_);
}

Workplace::~Workplace() {
    mount_.reset();
    try {
        clear();
    } catch (const std::exception&) {
        // The next build clears it.
    }
}

void Workplace::mount(const Context& ctx, const Entries& entries) {
    check_out(ctx, entries, directory_ / "lower", directory_ / "lower.index");
    make_upper(upper(), entries.at("/").mode);
    mount_.emplace(directory_ / "lower", upper(), directory_ / "overlay", root());
}

fs::path Workplace::made(const char* name) const {
    fs::path path = visible_ / name;
    make_directories(path);
    return path;
}

void Workplace::clear() const {
    unmount_stale(root());
    remove_tree(directory_);
    remove_tree(visible_);
}

}  // namespace edgegpu
