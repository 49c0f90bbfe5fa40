#include <string>

#include "commands/parser/option_values.hpp"
#include "commands/parser/options.hpp"

namespace edgegpu {

namespace {

void add_machine_options(CLI::App& verb, TestCommand& test) {
    verb.add_option_function<std::string>(
            "--accel",
            [&test](const std::string& name) {
                test.accelerator = name == "kvm"   ? Accelerator::kvm
                                   : name == "tcg" ? Accelerator::tcg
                                                   : Accelerator::automatic;
            },
            "What executes the machine's instructions; auto: KVM if a machine starts with it, else "
            "TCG, which emulates them (default: auto)")
        ->check(one_of({"auto", "kvm", "tcg"}))
        ->type_name("auto|kvm|tcg");
    verb.add_option_function<std::string>(
            "--firmware",
            [&test](const std::string& name) {
                test.firmware = name == "bios" ? Firmware::bios : Firmware::uefi;
            },
            "Firmware that starts the disk (default: uefi)")
        ->check(one_of({"uefi", "bios"}))
        ->type_name("uefi|bios");
    verb.add_flag("--keep", test.keep,
                  "Keep the machine's disk and all its files, and print where they are");
    verb.add_option("--output", test.output,
                    "Directory for consoles and screenshots (default: edgegpu-test, in the working "
                    "directory, and only if a check fails)")
        ->type_name("DIR");
}

}  // namespace

void add_test(CLI::App& app, TestCommand& test) {
    CLI::App* verb = app.add_subcommand(
        "test", "Boot a commit in a virtual machine and check it; rehearse upgrade and rollback");
    verb->add_option("REF", test.ref, "Ref, checksum or abbreviated checksum of the commit to test")
        ->required()
        ->type_name("COMMIT");
    verb->add_option("--repo", test.repo,
                     "ostree repository of the commit; it is only read (default: repo, in the "
                     "working directory)")
        ->type_name("DIR");
    CLI::Option* const from =
        verb->add_option("--from", test.from,
                         "Boot this commit first, and upgrade it to REF as a device would; a "
                         "trailing ^ selects the parent")
            ->type_name("COMMIT");
    verb->add_flag("--rollback", test.rollback,
                   "Also upgrade with a health check that fails: the boot loader has to return to "
                   "the commit before")
        ->needs(from);
    verb->add_flag("--rollback-only", test.rollback_only,
                   "The same without the upgrade that goes well")
        ->needs(from);
    verb->add_option("--checks", test.checks,
                     "Run the executable files of this directory in the machine, as root; exit "
                     "status 0 is passed, 77 skipped, any other failed")
        ->type_name("DIR");
    CLI::Option* const blueprint =
        verb->add_option(
                "--blueprint", test.blueprint,
                "Blueprint whose [test] says which checks to run in the machine, and which "
                "SELinux denials do not count, and whose volumes the disk has")
            ->type_name("FILE");
    add_parameter_options(*verb, test.parameters, blueprint);
    verb->add_option("--junit", test.junit, "Write the results to this file as JUnit's XML")
        ->type_name("FILE");
    add_machine_options(*verb, test);
}

}  // namespace edgegpu
