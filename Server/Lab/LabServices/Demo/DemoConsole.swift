import AppBackend
import HTTPService
import Hummingbird
import RichPushModel
import ServiceErrors

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Opens the console from the page of the phones: `POST /phone/console` answers with an address that signs an administrator in.
///
/// Every client of this route controls the server, as every client of the page controls the phones; both are for a loopback listener.
struct DemoConsole: Sendable {
    /// The administrator of the demonstration.
    static let operatorName = "operator"

    let backend: RichPushBackend
    let clock: any ServiceClock

    func addRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        router.group("phone").add(middleware: CrossSiteGuard()).post("console") { _, _ in
            try Response.json(Answer(address: "/console#\(try await link())"))
        }
    }

    private struct Answer: Encodable {
        var address: String
    }

    private func link() async throws -> String {
        do { return try await backend.makeConsoleLink(for: Self.operatorName).secret } catch let error as ServiceError
            where error.code == .notFound
        {
            try await begin()
            return try await backend.makeConsoleLink(for: Self.operatorName).secret
        }
    }

    /// Adds the administrator, and people and schedules to look at. Of two first requests one adds them, and the other fails.
    private func begin() async throws {
        _ = try await backend.addUser(name: Self.operatorName, password: nil, role: .admin)
        for person in Self.people {
            _ = try? await backend.addUser(
                name: person.name, password: nil, role: person.role, tags: person.tags.compactMap { Tag($0) })
        }
        let credential = PresentedCredential.basic(user: Self.operatorName, password: Self.operatorName)
        let principal = try await backend.authenticate(credential, from: .local)
        for request in schedules { _ = try await backend.schedule(request, for: principal) }
        _ = try await backend.putMessageTemplate("parcel-on-its-way", parcel, for: principal)
    }

    private static let people: [(name: String, role: UserRole, tags: [String])] = [
        ("emma", .user, ["news", "gold"]), ("jonas", .user, ["news"]), ("lina", .user, ["news", "berlin"]),
        ("marketing", .sender, []), ("mia", .user, ["gold"]), ("noah", .user, ["news", "paris"]), ("support", .auditor, []),
    ]

    private var parcel: MessageTemplateRequest {
        var notification = SendRequest(message: "{{name}}, your parcel comes on {{day}}.")
        notification.title = "Order {{order}}"
        notification.link = "https://example.com/orders/{{order}}"
        notification.preview = .open
        notification.translations = [
            SendTranslation(language: "sv", message: "{{name}}, ditt paket kommer på {{day}}."), SendTranslation(language: "en"),
        ]
        return MessageTemplateRequest(notification, defaults: ["name": "Hello"])
    }

    private var schedules: [ScheduleRequest] {
        var offers = SendRequest(message: "Everything for the garden is cheaper this week.")
        offers.title = "Offers of the week"
        offers.audience = "news"
        var swedish = SendTranslation(language: "sv", message: "Allt för trädgården är billigare den här veckan.")
        swedish.title = "Veckans erbjudanden"
        offers.translations = [swedish, SendTranslation(language: "en")]
        var weekly = ScheduleRequest(offers)
        let tomorrow = Date(timeIntervalSince1970: Double(clock.now.milliseconds) / 1000 + 86_400)
        weekly.localTime = tomorrow.formatted(.iso8601.year().month().day()) + "T09:00"
        weekly.timeZone = "Europe/Berlin"
        weekly.recurrence = "FREQ=WEEKLY;BYDAY=MO"
        var arrival = SendRequest(message: "Your parcel comes between nine and noon.")
        arrival.title = "Order 4711"
        arrival.audience = "username:mia"
        return [weekly, ScheduleRequest(arrival, at: clock.now + .seconds(2 * 86_400))]
    }
}
