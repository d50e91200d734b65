import AppBackend
import HTTPService
import HTTPTypes
import Hummingbird
import NIOCore
import RichPushModel
import ServiceErrors

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension BackendRoutes {
    /// A route of its own beside `users`: below it, the last word would be the name of a user.
    func addUserImportRoute(to router: some RouterMethods<ServiceRequestContext>) {
        add(.post, "user-imports", for: .changeUsers, to: router) { call in
            _ = try call.query()
            try call.request.requireJSON(as: UserImportLines.mediaType)
            extendDeadline(of: call)
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            // The fates wait for the end of the body: many clients read nothing before they have sent all.
            var answer = ByteBuffer()
            let lines = UserImportLines(request: call.request, depthLimit: options.json.depth)
            try await backend.importUsers(lines, by: call.principal) { fate in
                answer.writeBytes(try encoder.encode(fate))
                answer.writeInteger(UInt8(ascii: "\n"))
            }
            return Response(
                status: .ok, headers: [.contentType: UserImportLines.mediaType, .cacheControl: "no-store"],
                body: .init(byteBuffer: answer))
        }
    }
}

/// The lines of the body of an import, one at a time: never more than a chunk and a line are held. Empty lines count, and are no rows.
struct UserImportLines: AsyncSequence {
    static let mediaType = "application/x-ndjson"
    /// The most bytes of a line.
    static let lineLimit = 8_192
    /// The most rows of a request.
    static let rowLimit = 10_000

    let request: Request
    let depthLimit: Int

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(chunks: request.chunks.makeAsyncIterator(), depthLimit: depthLimit)
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        /// One line of the body.
        private struct Text {
            var bytes: [UInt8] = []
            var isTooLong = false

            mutating func take(_ piece: ArraySlice<UInt8>) {
                isTooLong = isTooLong || bytes.count + piece.count > UserImportLines.lineLimit
                if isTooLong { bytes = [] } else { bytes += piece }
            }

            var isBlank: Bool { !isTooLong && bytes.allSatisfy { $0 == UInt8(ascii: " ") || $0 == 0x09 || $0 == 0x0D } }
        }

        private var chunks: AsyncMapSequence<RequestBody, [UInt8]>.Iterator
        private let depthLimit: Int
        /// What is left of the last chunk.
        private var rest: ArraySlice<UInt8> = []
        private var hasEnded = false
        private var lines = 0
        private var rows = 0

        init(chunks: AsyncMapSequence<RequestBody, [UInt8]>.Iterator, depthLimit: Int) {
            self.chunks = chunks
            self.depthLimit = depthLimit
        }

        /// Throws `payload-too-large` at the first row beyond the limit.
        mutating func next() async throws -> UserImportLine? {
            while let text = try await nextText() {
                lines += 1
                if text.isBlank { continue }
                rows += 1
                guard rows <= UserImportLines.rowLimit else {
                    throw ServiceError(
                        .payloadTooLarge,
                        "a request has at most \(UserImportLines.rowLimit) rows; those are stored, send the others in further requests"
                    )
                }
                return UserImportLine(number: lines, row: row(text))
            }
            return nil
        }

        private mutating func nextText() async throws -> Text? {
            var text = Text()
            while !hasEnded {
                if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    text.take(rest[..<end])
                    rest = rest[(end + 1)...]
                    return text
                }
                text.take(rest)
                guard let chunk = try await chunks.next() else {
                    hasEnded = true
                    return text
                }
                rest = chunk[...]
            }
            return nil
        }

        private func row(_ text: Text) -> Result<UserRow, ServiceError> {
            guard !text.isTooLong else {
                return .failure(ServiceError(.invalidField, "line: it has more than \(UserImportLines.lineLimit) bytes"))
            }
            return Result { () throws(ServiceError) in
                try JSONFields.decode(UserRow.self, from: text.bytes, known: FieldNames.userRow, depthLimit: depthLimit)
            }
        }
    }
}
