import Foundation
import RepositoryChecks
import Testing

@Suite("Floors")
struct FloorCheckTests {
    private func findings(_ json: String, source: String = "", page: String = "`PushHub` `AppBackend` `APNsDelivery`") throws
        -> [String]
    {
        let package = try JSONDecoder().decode(PackageManifest.self, from: Data(json.utf8))
        let check = FloorCheck(plan: .clarion, modulesPage: page)
        return check.findings(in: package) { [SourceFile(path: "\($0.name).swift", text: source)] }.map(\.description)
    }

    private func package(_ target: String, _ dependencies: String) -> String {
        #"{"name":"p","targets":[{"name":"\#(target)","type":"regular","dependencies":[\#(dependencies)]}]}"#
    }

    @Test("what stands below may be used")
    func below() throws {
        #expect(try findings(package("AppBackend", #"{"byName":["PushHub",null]},{"byName":["ServiceErrors",null]}"#)).isEmpty)
    }

    @Test("what stands above may not be used")
    func above() throws {
        #expect(
            try findings(package("PushHub", #"{"byName":["AppBackend",null]}"#)) == [
                "PushHub: on floor 2 uses AppBackend on floor 2"
            ])
    }

    @Test("an adapter may not use another")
    func adapters() throws {
        let found = try findings(package("APNsDelivery", #"{"byName":["SQLStorage",null]}"#))
        #expect(found == ["APNsDelivery: on floor 3 uses SQLStorage on floor 3"])
    }

    @Test("the domain uses no socket")
    func products() throws {
        let found = try findings(package("PushHub", #"{"product":["NIOCore","swift-nio",null,null]}"#))
        #expect(found == ["PushHub: stands too low for the product NIOCore"])
    }

    @Test(
        "an import that the manifest does not name is found",
        arguments: ["import NIOCore", "@testable import NIOCore", "public import struct NIOCore.ByteBuffer"])
    func undeclared(line: String) throws {
        let found = try findings(package("APNsDelivery", ""), source: "import Foundation\n\(line)\n")
        #expect(found == ["APNsDelivery.swift:2: APNsDelivery imports NIOCore, which its manifest does not name"])
    }

    private func twoWings(_ productUses: String) -> String {
        """
        {"name":"p","targets":[
            {"name":"clarion","type":"executable","dependencies":[{"byName":["AppBackend",null]}]},
            {"name":"AppBackend","type":"regular","dependencies":[{"byName":["\(productUses)",null]}]},
            {"name":"PushHub","type":"regular","dependencies":[]},
            {"name":"APNsEmulation","type":"regular","path":"Lab/APNsEmulation","dependencies":[]},
            {"name":"DeviceSimulation","type":"regular","path":"Lab/DeviceSimulation",
             "dependencies":[{"byName":["APNsEmulation",null]},{"byName":["PushHub",null]}]},
            {"name":"EndToEndTests","type":"test","dependencies":[{"byName":["APNsEmulation",null]}]}]}
        """
    }

    private let allPages = "`clarion` `PushHub` `AppBackend` `APNsEmulation` `DeviceSimulation`"

    @Test("the lab may use the product and itself, and a test may use both")
    func labUsesProduct() throws {
        #expect(try findings(twoWings("PushHub"), page: allPages).isEmpty)
    }

    @Test("a target of the product that uses one of the lab is found, and so is the program that would compile it")
    func productUsesLab() throws {
        let found = try findings(twoWings("APNsEmulation"), page: allPages)
        #expect(found.contains("AppBackend: is of the product and uses APNsEmulation, which is of the lab"))
        #expect(
            found.contains("clarion: is a program of the product, and its build compiles APNsEmulation, which is of the lab"))
    }

    @Test("what comes into the program by way of the lab is found too")
    func labBehindLab() throws {
        let found = try findings(twoWings("DeviceSimulation"), page: allPages)
        #expect(
            found.contains("clarion: is a program of the product, and its build compiles APNsEmulation, which is of the lab"))
    }

    @Test("a target that uses more than 18 others of the project is found")
    func crowd() throws {
        let names = [
            "RichPushModel", "ServiceErrors", "APNsProtocol", "HubProtocol", "LocalCertificates", "NotificationTemplates",
            "RichPushSealing", "SharedAccess", "TagExpressions", "APNsEmulation", "APNsHTTP2", "AppBackend", "PushHub",
            "RichPushDevice", "APNsDelivery", "BackendHTTPAPI", "ContentStorage", "DeviceSimulation", "HTTPService",
        ]
        let dependencies = names.map { #"{"byName":["\#($0)",null]}"# }
        let page = "`clarion`"
        #expect(
            try findings(package("clarion", dependencies.joined(separator: ",")), page: page) == [
                "clarion: uses 19 targets of the project, more than 18"
            ])
        #expect(try findings(package("clarion", dependencies.dropLast().joined(separator: ",")), page: page).isEmpty)
    }

    @Test("a name of the plan that is no target of any package is found")
    func noTarget() throws {
        let package = try JSONDecoder().decode(PackageManifest.self, from: Data(package("PushHub", "").utf8))
        let found = FloorCheck(plan: .clarion, modulesPage: "").unknownTargets(in: [package]).map(\.description)
        #expect(found.contains("AppBackend: is in Checks' FloorPlan, and no package has such a target"))
        #expect(!found.contains { $0.hasPrefix("PushHub:") })
        #expect(!found.contains { $0.hasPrefix("Crypto:") }, "a product of another package is no target")
    }

    @Test("a target without floor and paragraph is found")
    func unknown() throws {
        let found = try findings(package("Utilities", ""))
        #expect(found.count == 2)
    }
}
