import HubProtocol
import Testing

@Suite("Routes of the hub protocol")
struct HubRouteTests {
    private func found(_ method: String, _ path: String) -> HubRoute? {
        guard case .route(let route) = HubRoute.match(method: method, path: path) else { return nil }
        return route
    }

    @Test(
        "every operation of the protocol has its path and its one status",
        arguments: [
            ("POST", "/demo/registrations", HubOperation.createRegistration, 200, nil as String?),
            ("POST", "/demo/registrationids", .createRegistrationID, 201, nil),
            ("GET", "/demo/registrations/7-8-2", .registration, 200, "7-8-2"),
            ("PUT", "/demo/registrations/7-8-2", .putRegistration, 200, "7-8-2"),
            ("DELETE", "/demo/registrations/7-8-2", .deleteRegistration, 200, "7-8-2"),
            ("GET", "/demo/registrations", .registrations, 200, nil),
            ("GET", "/demo/tags/vip/registrations", .registrationsByTag, 200, "vip"),
            ("PUT", "/demo/installations/i", .putInstallation, 200, "i"),
            ("GET", "/demo/installations/i", .installation, 200, "i"),
            ("PATCH", "/demo/installations/i", .patchInstallation, 200, "i"),
            ("DELETE", "/demo/installations/i", .deleteInstallation, 204, "i"), ("POST", "/demo/messages", .send, 201, nil),
            ("POST", "/demo/messages/$batch", .sendBatch, 201, nil),
            ("POST", "/demo/schedulednotifications", .schedule, 201, nil),
            ("DELETE", "/demo/schedulednotifications/n", .cancelSchedule, 200, "n"),
            ("GET", "/demo/messages/n", .telemetry, 200, "n"), ("GET", "/demo/feedbackcontainer", .feedbackContainer, 200, nil),
            ("POST", "/demo/jobs", .submitJob, 201, nil), ("GET", "/demo/jobs", .jobs, 200, nil),
            ("GET", "/demo/jobs/j", .job, 200, "j"),
            ("PUT", "/demo", .putHub, 200, nil), ("GET", "/demo", .hub, 200, nil), ("DELETE", "/demo", .deleteHub, 200, nil),
            ("GET", "/", .hubs, 200, nil), ("GET", "/$Resources/NotificationHubs/", .hubs, 200, nil),
        ])
    func table(_ method: String, _ path: String, _ operation: HubOperation, _ status: Int, _ id: String?) {
        let match = HubRoute.match(method: method, path: path)
        guard case .route(let route) = match else {
            Issue.record("\(match)")
            return
        }
        #expect(route.operation == operation)
        #expect(route.operation.successStatus == status)
        #expect(route.id == id)
        #expect(route.hub == (operation == .hubs ? "" : "demo"))
        if !path.hasSuffix("/") { #expect(found(method, path + "/") == route, "a final slash changes nothing") }
        #expect(found(method.lowercased(), path.uppercased())?.operation == operation, "nor does the letter case")
    }

    @Test("the spelling of the path is kept for Location")
    func spelling() throws {
        let route = try #require(found("POST", "/Hub-PHP/registrationIDs/"))
        #expect(route.hub == "Hub-PHP")
        #expect(route.collectionSpelling == "registrationIDs")
    }

    @Test("ids and tags are percent-decoded, a plus stays one")
    func decoding() {
        #expect(found("GET", "/demo/tags/city%3AOslo%20x/registrations")?.id == "city:Oslo x")
        #expect(found("GET", "/demo/tags/a+b/registrations")?.id == "a+b")
        #expect(found("POST", "/demo/messages/%24batch")?.operation == .sendBatch)
    }

    @Test("another method is answered with the allowed ones, another path is unknown")
    func misses() {
        #expect(
            HubRoute.match(method: "POST", path: "/demo/installations/i") == .methodNotAllowed(["PUT", "GET", "PATCH", "DELETE"]))
        #expect(HubRoute.match(method: "GET", path: "/demo/messages/$batch") == .methodNotAllowed(["POST"]))
        for path in [
            "/demo/other", "/demo//messages", "//messages", "/demo/tags/a", "/demo/messages/n/more", "/$Resources/x",
            "/a/b/c/d/e",
        ] {
            #expect(HubRoute.match(method: "GET", path: path) == .unknownPath, "\(path)")
        }
        #expect(HubRoute.match(method: "GET", path: "/" + String(repeating: "a", count: 5000)) == .unknownPath)
    }

    @Test("Location is absolute, https, and repeats authority, spelling and version")
    func location() throws {
        let php = try #require(found("POST", "/hub-php/registrationIDs/"))
        let header = LocationHeader(authority: "localhost:18443", fallback: "f", route: php, apiVersion: "2013-08")
        #expect(header.member("7-8-2") == "https://localhost:18443/hub-php/registrationIDs/7-8-2?api-version=2013-08")
        #expect(header.collection == "https://localhost:18443/hub-php/registrationIDs?api-version=2013-08")
        let batch = try #require(found("POST", "/demo/messages/$batch"))
        #expect(
            LocationHeader(authority: "[::1]:8443", fallback: "f", route: batch, apiVersion: "2020-06").member("n")
                == "https://[::1]:8443/demo/messages/n?api-version=2020-06", "never below $batch")
        for bad in ["a/b", "a b", "a\r\nX: y", "u@h", ""] {
            let header = LocationHeader(authority: bad, fallback: "push.example.test", route: batch, apiVersion: "2020-06")
            #expect(header.member("n") == "https://push.example.test/demo/messages/n?api-version=2020-06")
        }
    }

    @Test("an id is taken out of a Location")
    func locationID() {
        #expect(LocationHeader.id(in: "https://h/demo/messages/n-0-1?api-version=2020-06") == "n-0-1")
        #expect(LocationHeader.id(in: "https://h/demo/messages/a%20b") == "a b")
        #expect(LocationHeader.id(in: "https://h/demo/messages/") == nil)
        #expect(LocationHeader.id(in: "n") == nil)
    }
}
