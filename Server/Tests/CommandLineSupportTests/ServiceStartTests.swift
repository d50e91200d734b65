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
        await #expect(throws: InputFault("another server uses it", .cannotCreate)) {
            try await ServiceStart.coded { throw ServiceError(code, "another server uses it") }
        }
        #expect(ExitCode.cannotCreate.rawValue == 73)
    }

    @Test("any other error passes as it is")
    func others() async {
        let error = ServiceError(.notReady, "port 8080 of 127.0.0.1 cannot be used")
        await #expect(throws: error) { try await ServiceStart.coded { throw error } }
    }
}

@Suite("The end of a command that found something out")
struct CommandEndTests {
    @Test("a file that is of no use ends with the code that says so, and words that are wrong with 64")
    func files() {
        let file = CommandLineProgram.complaint(about: InputFault("a.json cannot be read", .noInput))
        #expect(file?.sentence == "a.json cannot be read")
        #expect(file?.exitCode.rawValue == 66)
        #expect(CommandLineProgram.complaint(about: InputFault("a.json is empty", .badInput))?.exitCode.rawValue == 65)
        #expect(CommandLineProgram.complaint(about: ValidationError("give a file"))?.exitCode.rawValue == 64)
        #expect(CommandLineProgram.complaint(about: ExitCode.noPermission) == nil)
    }

    @Test("a refusal of the server's code ends with 1 and its sentence, without the code for programs")
    func refusals() {
        let refusal = CommandLineProgram.complaint(about: ServiceError(.invalidField, "password: it has at least 12 characters"))
        #expect(refusal?.sentence == "password: it has at least 12 characters")
        #expect(refusal?.exitCode.rawValue == 1)
        #expect(CommandLineProgram.complaint(about: ServiceError(.notFound))?.sentence == "not-found")
    }
}
