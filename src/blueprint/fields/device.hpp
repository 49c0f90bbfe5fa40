#pragma once

#include "blueprint/device.hpp"
#include "blueprint/fields/field.hpp"

/// Fields of the blueprint's device configuration.
namespace edgegpu {

consteval auto fields_of(const TimezoneRequest*) {
    using Timezone = TimezoneRequest;
    return all_fields_of<Timezone>(input("timezone", &Timezone::name),
                                   input("ntp_servers", &Timezone::ntp_servers),
                                   place(&Timezone::location));
}

consteval auto fields_of(const LocaleRequest*) {
    using Locale = LocaleRequest;
    return all_fields_of<Locale>(input("languages", &Locale::languages),
                                 input("keyboard", &Locale::keyboard), place(&Locale::location));
}

consteval auto fields_of(const FipsRequest*) {
    return all_fields_of<FipsRequest>(input("fips", &FipsRequest::enabled),
                                      place(&FipsRequest::location));
}

consteval auto fields_of(const SoftDependency*) {
    return all_fields_of<SoftDependency>(input("pre", &SoftDependency::pre),
                                         input("post", &SoftDependency::post));
}

consteval auto fields_of(const ModprobeRequest*) {
    using Modprobe = ModprobeRequest;
    return all_fields_of<Modprobe>(
        input("blacklist", &Modprobe::blacklist), input("options", &Modprobe::options),
        input("softdeps", &Modprobe::softdeps), place(&Modprobe::location));
}

consteval auto fields_of(const UnitRequest*) {
    using Unit = UnitRequest;
    return all_fields_of<Unit>(input("name", &Unit::name),
                               input<Shown::text>("contents", &Unit::contents),
                               input<Shown::text>("drop_ins", &Unit::drop_ins),
                               input("state", &Unit::state), place(&Unit::location));
}

consteval auto fields_of(const SystemdRequest*) {
    using Systemd = SystemdRequest;
    return all_fields_of<Systemd>(input("units", &Systemd::units),
                                  input("preset_all", &Systemd::preset_all),
                                  place(&Systemd::location));
}

consteval auto fields_of(const ServicesRequest*) {
    using Services = ServicesRequest;
    return all_fields_of<Services>(unordered_input("enabled", &Services::enabled),
                                   unordered_input("disabled", &Services::disabled),
                                   unordered_input("masked", &Services::masked),
                                   place(&Services::locations));
}

consteval auto fields_of(const FirewallRequest*) {
    using Firewall = FirewallRequest;
    return all_fields_of<Firewall>(input("ports", &Firewall::ports),
                                   input("enabled_services", &Firewall::enabled_services),
                                   input("disabled_services", &Firewall::disabled_services),
                                   input("zones", &Firewall::zones), place(&Firewall::location));
}

consteval auto fields_of(const FirstbootScript*) {
    using Script = FirstbootScript;
    return all_fields_of<Script>(
        input("name", &Script::name), input<Shown::text>("contents", &Script::contents),
        input("after", &Script::after), input("before", &Script::before),
        input("ignore_failure", &Script::ignore_failure), place(&Script::location));
}

consteval auto fields_of(const UpdateWindow*) {
    using Window = UpdateWindow;
    return all_fields_of<Window>(unordered_input("days", &Window::days),
                                 input("start", &Window::start),
                                 input("minutes", &Window::minutes));
}

consteval auto fields_of(const UpdatesRequest*) {
    using Updates = UpdatesRequest;
    return all_fields_of<Updates>(
        input("policy", &Updates::policy), input("check_every", &Updates::check_every),
        input("spread", &Updates::spread), input("rollouts", &Updates::rollouts),
        input("max_download", &Updates::max_download), input("time_zone", &Updates::time_zone),
        place(&Updates::time_zone_location), input("windows", &Updates::windows),
        input<Shown::url>("lock", &Updates::lock), input("lock_group", &Updates::lock_group),
        input<Shown::url>("report_to", &Updates::report_to),
        input<Shown::url>("proxy", &Updates::proxy), place(&Updates::location));
}

}  // namespace edgegpu
