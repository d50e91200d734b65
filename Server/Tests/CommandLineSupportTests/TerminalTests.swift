import ArgumentParser
import ServiceErrors
import Testing

@testable import CommandLineSupport

@Suite("Questions at a terminal")
struct RepeatedQuestionTests {
    /// What is said while a question is answered with `answers` until one fits.
    private func notes(_ answers: [Result<Int, any Error>], isInteractive: Bool = true) throws -> [String] {
        var (rest, notes) = (answers[...], [String]())
        let answer = try Terminal.repeating(isInteractive: isInteractive, note: { notes.append($0) }) {
            let next = rest.popFirst()
            return try #require(next).get()
        }
        return notes + ["\(answer)"]
    }

    @Test("a question is asked again after each answer that does not fit, with the reason in between")
    func again() throws {
        let answers: [Result<Int, any Error>] = [
            .failure(ValidationError("the two passwords differ")),
            .failure(ServiceError(.invalidField, "password: it has at least 12 characters")), .success(7),
        ]
        #expect(
            try notes(answers) == [
                "clarion: the two passwords differ", "clarion: password: it has at least 12 characters", "7",
            ])
    }

    @Test("the end of the input ends the questions, and without a person the first answer has to fit")
    func ends() throws {
        let end = InputFault("the input ended before an answer", .validationFailure)
        #expect(throws: end) { try notes([.failure(end), .success(7)]) }
        #expect(throws: ValidationError.self) { try notes([.failure(ValidationError("no")), .success(7)], isInteractive: false) }
    }
}
