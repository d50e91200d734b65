import APNsProtocol
import Testing

@testable import ServerSettings

@Suite("A host for the sandbox only")
struct SettingsSandboxHostTests {
    private func apns(_ file: String) throws -> Settings.APNs {
        try #require(SettingsFixture(file: file, files: ["roots.pem": "x", "sandbox.pem": "x"]).read().settings).apns
    }

    @Test("without one both environments use apns-host, its port and its certificates")
    func shared() throws {
        let apns = try apns("apns-host: localhost\napns-port: 2197\napns-trust-roots-path: roots.pem\nallow-local-apns: true\n")
        for environment in APNsEnvironment.allCases {
            let place = apns.place(for: environment)
            #expect(place.host == "localhost")
            #expect(place.port == 2197)
            #expect(place.trustRootsPath == "roots.pem")
            #expect(place.hostSetting == "apns-host")
            #expect(!place.isStandard)
        }
        #expect(apns.environmentsInUse == [.production])
    }

    @Test("with one the sandbox goes there and production stays at Apple's host")
    func sandbox() throws {
        let apns = try apns(
            "apns-sandbox-host: localhost\napns-sandbox-port: 2197\napns-sandbox-trust-roots-path: sandbox.pem\n")
        let sandbox = apns.place(for: .sandbox)
        #expect(sandbox.host == "localhost")
        #expect(sandbox.port == 2197)
        #expect(sandbox.trustRootsPath == "sandbox.pem")
        #expect(sandbox.hostSetting == "apns-sandbox-host")
        #expect(sandbox.trustRootsSetting == "apns-sandbox-trust-roots-path")
        let production = apns.place(for: .production)
        #expect(production.host == "api.push.apple.com")
        #expect(production.port == 443)
        #expect(production.trustRootsPath == nil)
        #expect(production.isStandard)
        #expect(apns.environmentsInUse == [.production, .sandbox])
    }

    @Test("both hosts may be set, and neither takes port or certificates of the other")
    func both() throws {
        let apns = try apns(
            """
            apns-host: push.example.org
            apns-port: 2197
            apns-trust-roots-path: roots.pem
            allow-local-apns: true
            apns-sandbox-host: localhost
            """)
        #expect(apns.place(for: .production).endpoint == .init(host: "push.example.org", port: 2197))
        #expect(apns.place(for: .sandbox).endpoint == .init(host: "localhost", port: 443))
        #expect(apns.place(for: .production).trustRootsPath == "roots.pem")
        #expect(apns.place(for: .sandbox).trustRootsPath == nil)
    }

    @Test("a local host for the sandbox needs no leave, also beside a production environment")
    func leave() {
        #expect(SettingsFixture(file: "apns-sandbox-host: localhost\napns-environment: production\n").problems.isEmpty)
    }

    @Test("where apns-host may not take production, nothing is checked for production")
    func sandboxOnly() throws {
        let apns = try apns("apns-environment: sandbox\napns-host: localhost\napns-sandbox-host: 127.0.0.1\n")
        #expect(apns.environmentsInUse == [.sandbox])
    }

    @Test("channels are managed at Apple's hosts, and at another host only with the port of its management")
    func management() throws {
        let own = try apns("apns-host: localhost\napns-management-port: 2195\napns-environment: sandbox\n").place(for: .sandbox)
        #expect(own.management == .init(host: "localhost", port: 2195))
        #expect(own.managesChannels)
        #expect(try !apns("apns-host: localhost\napns-environment: sandbox\n").place(for: .sandbox).managesChannels)
        let apple = try apns("").place(for: .production)
        #expect(apple.managesChannels && apple.management == nil)
        let beside = try apns("apns-sandbox-host: localhost\napns-sandbox-management-port: 2196\n")
        #expect(beside.place(for: .sandbox).management == .init(host: "localhost", port: 2196))
        #expect(beside.place(for: .production).management == nil)
    }

    @Test("the port of the management needs its host", arguments: ["apns-management-port", "apns-sandbox-management-port"])
    func managementAlone(key: String) {
        #expect(SettingsFixture(file: "\(key): 2195\n").problems.count == 1)
    }

    @Test("a port of Apple's own counts without a host")
    func port() throws {
        #expect(
            try apns("apns-port: 2197\n").place(for: .sandbox).endpoint == .init(host: "api.sandbox.push.apple.com", port: 2197))
    }

    @Test(
        "a port, or certificates, of a sandbox host that is not set is a problem that names the setting",
        arguments: ["apns-sandbox-port: 2197", "apns-sandbox-trust-roots-path: sandbox.pem"])
    func incomplete(line: String) {
        let problems = SettingsFixture(file: line + "\n", files: ["sandbox.pem": "x"]).problems
        let name = line.prefix { $0 != ":" }
        #expect(problems == ["clarion.yaml line 1: \(name): belongs to apns-sandbox-host; set that as well"])
    }

    @Test("a proxy leads to Apple's host and to other machines, and never to this machine itself")
    func proxy() throws {
        let proxied = "apns-proxy: http://proxy.example:3128\nallow-local-apns: true\n"
        for host in ["localhost", "LOCALHOST", "127.0.0.1", "127.9.8.7", "::1"] {
            let sandbox = try apns(proxied + "apns-sandbox-host: '\(host)'\n")
            #expect(sandbox.place(for: .sandbox).proxy == nil, "\(host)")
            #expect(sandbox.place(for: .production).proxy?.host == "proxy.example")
            #expect(try apns(proxied + "apns-host: '\(host)'\n").place(for: .production).proxy == nil, "\(host)")
        }
        let elsewhere = try apns(proxied + "apns-host: push.example.org\napns-sandbox-host: 10.0.0.1\n")
        for environment in APNsEnvironment.allCases {
            #expect(elsewhere.place(for: environment).proxy?.host == "proxy.example")
        }
    }

    @Test("certificates for the sandbox that cannot be read are a problem that names their setting")
    func unreadable() {
        let problems = SettingsFixture(
            file: "apns-sandbox-host: localhost\napns-sandbox-trust-roots-path: none.pem\n"
        ).problems
        #expect(
            problems == ["clarion.yaml line 2: apns-sandbox-trust-roots-path: none.pem cannot be read: there is no such file"])
    }
}
