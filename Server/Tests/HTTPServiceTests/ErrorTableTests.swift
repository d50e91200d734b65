import HTTPService
import ServiceErrors
import Testing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite("The error table")
struct ErrorTableTests {
    @Test("every code has its own entry with words for a reader")
    func isComplete() {
        for code in ServiceErrorCode.allCases {
            let entry = ErrorTable.entry(for: code)
            #expect(entry.code == code)
            #expect(entry.status.code >= 400)
            #expect(entry.title.hasSuffix("."))
            #expect(entry.advice.hasSuffix("."))
            #expect(entry.documentation == "/docs/errors#\(code.rawValue)")
        }
        #expect(Set(ServiceErrorCode.allCases.map { ErrorTable.entry(for: $0).title }).count == ServiceErrorCode.allCases.count)
    }

    @Test("only errors that a repeat can cure name a time to wait")
    func retryAfter() {
        let waiting = ServiceErrorCode.allCases.filter { ErrorTable.entry(for: $0).retryAfter != nil }
        #expect(
            waiting == [
                .requestTimeout, .tooManyAttempts, .tooManyRequests, .overloaded, .storageUnavailable, .outcomeUnknown, .notReady,
            ])
    }

    @Test("mistakes of the server are logged as errors, mistakes of callers are not")
    func levels() {
        for code in ServiceErrorCode.allCases {
            let entry = ErrorTable.entry(for: code)
            if entry.status.code < 500 { #expect(entry.level <= .notice, "\(code)") }
            if code == .internal { #expect(entry.level == .error) }
        }
    }

    /// With `CLARION_RENEW_DOCUMENTATION=1` in the environment the page is written instead of compared.
    @Test("Documentation/Errors.md is made from the table")
    func pageIsFresh() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let page = root.appending(path: "Documentation/Errors.md")
        if ProcessInfo.processInfo.environment["CLARION_RENEW_DOCUMENTATION"] == "1" {
            try ErrorTable.markdown.write(to: page, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOf: page, encoding: .utf8) == ErrorTable.markdown)
    }
}
