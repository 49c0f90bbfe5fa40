#include "bundles/checks/application_order.hpp"

namespace edgegpu {

bool is_applied_after(const std::vector<BundleObject>& objects, const RenderedBundle& a,
                      const RenderedBundle& b) {
    const RenderedBundle* first = objects.empty() ? nullptr : objects.front().bundle;
    if (&a == &b || &a == first) {
        return false;
    }
    return &b == first || b.name < a.name;
}

}  // namespace edgegpu
