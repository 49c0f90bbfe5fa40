#include "bundles/checks/services_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bundles_check_fixture.hpp"

namespace edgegpu::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string services_of(const std::string& text, const ImageFacts& facts = plain_facts()) {
    return said_of(
        {in_app(text)},
        [](const KnownObjects& known, const std::vector<PodTemplate>& pods, Findings& findings) {
            check_services(known, pods, findings);
            check_service_references(known, findings);
        },
        facts);
}

/// A deployment whose pods have the label app=web and the port "http".
const std::string web = object("apps/v1", "Deployment", "web", "app") +
                        "spec: {template: {metadata: {labels: {app: web, tier: '1'}}, spec: "
                        "{containers: [{name: c, ports: [{name: http, containerPort: 80}]}]}}}\n"
                        "---\n";

std::string service(const std::string& spec) {
    return object("v1", "Service", "web", "app") + "spec: {" + spec + "}\n";
}

TEST(ServicesCheckTest, ASelectorThatMatchesNoPod) {
    EXPECT_EQ(services_of(web + service("selector: {app: web}")), "");
    EXPECT_THAT(services_of(web + service("selector: {app: wbe}")),
                AllOf(HasSubstr("Service app/web: its selector matches no pod"),
                      HasSubstr("Deployment app/web has app=web, tier=1"),
                      HasSubstr("provided = [\"Pod app/*\"]")));
    EXPECT_THAT(services_of(service("selector: {app: web}")), HasSubstr("no bundle has pods"));
    EXPECT_EQ(services_of(service("clusterIP: None")), "") << "no selector";
    EXPECT_EQ(services_of(service("type: ExternalName, selector: {app: x}")), "");
    ImageFacts facts = plain_facts();
    facts.provided = {{"Pod", "app", "*", {}}};
    EXPECT_EQ(services_of(service("selector: {app: web}"), facts), "");
    facts = plain_facts();
    facts.partial = true;
    EXPECT_EQ(services_of(service("selector: {app: web}"), facts), "");
}

TEST(ServicesCheckTest, LabelsThatControllersAdd) {
    EXPECT_EQ(services_of(web + service("selector: {app: web, pod-template-hash: x}")), "");
    EXPECT_EQ(services_of(web + service("selector: {app: web, "
                                        "statefulset.kubernetes.io/pod-name: web-0}")),
              "");
}

TEST(ServicesCheckTest, PodsThatOperatorsMakeOrLabelAreNotMissed) {
    const std::string wanted = service("selector: {app: other}");
    EXPECT_EQ(services_of(wanted + "---\n" +
                          object("monitoring.coreos.com/v1", "Prometheus", "p", "app")),
              "");
    EXPECT_NE(services_of(wanted + "---\n" +
                          object("monitoring.coreos.com/v1", "ServiceMonitor", "p", "app")),
              "")
        << "makes no pods";
    const std::string api = "rbac.authorization.k8s.io/v1";
    const std::string role = object(api, "Role", "r", "app") +
                             "rules: [{apiGroups: [''], resources: [pods], verbs: [VERB]}]\n---\n" +
                             object(api, "RoleBinding", "r", "app") +
                             "roleRef: {kind: Role, name: r}\n";
    const auto with = [&](const std::string& verb) {
        std::string rule = role;
        return services_of(wanted + "---\n" + rule.replace(rule.find("VERB"), 4, verb));
    };
    EXPECT_EQ(with("patch"), "");
    EXPECT_NE(with("list"), "");
}

TEST(ServicesCheckTest, NamedTargetPorts) {
    const auto with = [](const std::string& port) {
        return services_of(
            web + service("selector: {app: web}, ports: [{port: 80, targetPort: " + port + "}]"));
    };
    EXPECT_EQ(with("http"), "");
    EXPECT_EQ(with("8080"), "") << "a number need not be declared";
    EXPECT_THAT(with("https"),
                AllOf(HasSubstr("has a port named \"https\""), HasSubstr("their ports: http")));
}

TEST(ServicesCheckTest, IngressesAndRoutes) {
    const std::string there =
        web + service("selector: {app: web}, ports: [{name: http, port: 80}]") + "---\n";
    const auto ingress = [&](const std::string& backend) {
        return services_of(there + object("networking.k8s.io/v1", "Ingress", "i", "app") +
                           "spec: {rules: [{http: {paths: [{backend: {service: {" + backend +
                           "}}}]}}]}\n");
    };
    EXPECT_EQ(ingress("name: web, port: {number: 80}"), "");
    EXPECT_EQ(ingress("name: web, port: {name: http}"), "");
    EXPECT_THAT(ingress("name: web, port: {number: 81}"),
                AllOf(HasSubstr("Service web has no port 81"), HasSubstr("its ports: 80 (http)")));
    EXPECT_THAT(ingress("name: wbe, port: {number: 80}"),
                AllOf(HasSubstr("no bundle has Service app/wbe"), HasSubstr("did you mean web?")));
    const auto route = [&](const std::string& spec) {
        return services_of(there + object("route.openshift.io/v1", "Route", "r", "app") +
                           "spec: {" + spec + "}\n");
    };
    EXPECT_EQ(route("to: {kind: Service, name: web}, port: {targetPort: http}"), "");
    EXPECT_EQ(route("to: {kind: Service, name: web}, port: {targetPort: 8080}"), "");
    EXPECT_THAT(route("to: {kind: Service, name: web}, port: {targetPort: https}"),
                HasSubstr("no port https"));
    EXPECT_THAT(route("to: {kind: Service, name: wbe}"), HasSubstr("no bundle has Service"));
}

TEST(ServicesCheckTest, WebhooksAndApiServices) {
    const std::string there = web + service("selector: {app: web}, ports: [{port: 443}]") + "---\n";
    const auto webhook = [&](const std::string& client) {
        return services_of(
            there +
            object("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "w") +
            "webhooks: [{clientConfig: {service: {" + client + "}}}]\n");
    };
    EXPECT_EQ(webhook("namespace: app, name: web"), "");
    EXPECT_EQ(webhook("namespace: other, name: web"), "") << "of others";
    EXPECT_THAT(webhook("namespace: app, name: x"), HasSubstr("no bundle has Service app/x"));
    EXPECT_THAT(webhook("namespace: app, name: web, port: 8443"), HasSubstr("no port 8443"));
    EXPECT_THAT(services_of(there + object("apiregistration.k8s.io/v1", "APIService", "v1.x.y") +
                            "spec: {service: {namespace: app, name: x}}\n"),
                HasSubstr("no bundle has Service app/x"));
    EXPECT_THAT(
        services_of(there + object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "x.y.z") +
                    "spec: {conversion: {webhook: {clientConfig: {service: {namespace: "
                    "app, name: x}}}}}\n"),
        HasSubstr("cannot convert"));
}

TEST(ServicesCheckTest, WhatAnAutoscalerScales) {
    const auto scaler = [](const std::string& target) {
        return services_of(web + object("autoscaling/v2", "HorizontalPodAutoscaler", "h", "app") +
                           "spec: {scaleTargetRef: {" + target + "}}\n");
    };
    EXPECT_EQ(scaler("apiVersion: apps/v1, kind: Deployment, name: web"), "");
    EXPECT_EQ(scaler("apiVersion: example.com/v1, kind: Deployment, name: x"), "");
    EXPECT_THAT(scaler("apiVersion: apps/v1, kind: Deployment, name: x"),
                HasSubstr("no bundle has Deployment app/x"));
}

}  // namespace
}  // namespace edgegpu::test
