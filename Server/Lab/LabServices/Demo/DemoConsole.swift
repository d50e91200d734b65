import AppBackend
import HTTPService
import Hummingbird
import RichPushModel
import ServiceErrors

/// Opens the console from the page of the phones: `POST /phone/console` answers with an address that signs an administrator in.
///
/// Every client of this route controls the server, as every client of the page controls the phones; both are for a loopback listener.
struct DemoConsole: Sendable {
    /// The administrator of the demonstration.
    static let operatorName = "operator"

    let backend: RichPushBackend

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
            _ = try await backend.addUser(name: Self.operatorName, password: nil, role: .admin)
            return try await backend.makeConsoleLink(for: Self.operatorName).secret
        }
    }
}
