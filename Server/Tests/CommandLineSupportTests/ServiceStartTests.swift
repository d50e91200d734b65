import ArgumentParser
import ServiceErrors
import Testing

@testable import CommandLineSupport

@Suite("The end of a service that cannot start")
struct ServiceStartTests {
    @Test(
        "a folder or database that cannot be used, or that another process holds, ends with 73",
        arguments: [ServiceErrorCode.storageUnavailable, .conflict])
    func storage(code: ServiceErrorCode) async {
        let exit = await #expect(throws: ExitCode.self) {
            try await ServiceStart.coded { throw ServiceError(code, "another server uses it") }
        }
        #expect(exit?.rawValue == 73)
    }

    @Test("any other error passes as it is")
    func others() async {
        let error = ServiceError(.notReady, "port 8080 of 127.0.0.1 cannot be used")
        await #expect(throws: error) { try await ServiceStart.coded { throw error } }
    }
}
