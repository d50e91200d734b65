#if canImport(UIKit) && canImport(UserNotifications)
    import Foundation
    import RichPushDevice

    /// One request under way: what came so far, and how it ends. A value, so that it needs no thread of its own.
    struct TransportExchange {
        /// The most of an answer that is read although nobody asked for it.
        static let refusalLimit: Int64 = 64 << 10

        let maximumBytes: Int64
        /// Where the body of a 200 goes; `nil` keeps it in memory.
        let file: URL?
        var status = 0
        var body = Data()
        /// What the exchange itself decided, before the system reports the end that it caused.
        var failure: TransportError?
        /// Whether the rest of a download was not waited for. What that means is known when the status is.
        private var isCut = false

        init(maximumBytes: Int64, file: URL?) {
            self.maximumBytes = maximumBytes
            self.file = file
        }

        /// Takes a piece of the answer; `false` when it is too much, and the exchange is to be cancelled.
        mutating func receive(_ piece: Data) -> Bool {
            body.append(piece)
            guard Int64(body.count) > maximumBytes else { return true }
            failure = .tooLarge
            return false
        }

        /// Takes the news that a download has reached so many bytes, in an answer of this status; `false` as above. The caller's
        /// limit is for the content: a refusal has one of its own, and what is beyond that is cut off, since its status says enough.
        mutating func reached(_ count: Int64, status: Int?) -> Bool {
            let limit =
                switch status {
                case 200: maximumBytes
                case nil: max(maximumBytes, Self.refusalLimit)
                default: Self.refusalLimit
                }
            guard count > limit else { return true }
            isCut = true
            return false
        }

        /// Takes a finished download, which vanishes when this returns.
        mutating func finished(at location: URL, status: Int) {
            guard failure == nil, !isCut, let file else { return }
            guard status == 200 else {
                body = Self.beginning(of: location)
                return
            }
            do {
                let size = try FileManager.default.attributesOfItem(atPath: location.path)[.size] as? Int64 ?? 0
                guard size <= maximumBytes else { return failure = .tooLarge }
                try FileManager.default.moveItem(at: location, to: file)
            } catch {
                failure = .fileNotWritable
            }
        }

        /// How it ends.
        func outcome(_ error: (any Error)?, headers: [AnyHashable: Any]) -> Result<TransportResponse, TransportError> {
            if let failure { return .failure(failure) }
            if isCut, status == 200 || status == 0 { return .failure(.tooLarge) }
            if let error, !isCut { return .failure(Self.failure(error)) }
            guard status > 0 else { return .failure(.unreachable) }
            var named: [String: String] = [:]
            for (name, value) in headers { named["\(name)".lowercased()] = "\(value)" }
            return .success(TransportResponse(status: status, headers: named, body: body))
        }

        private static func beginning(of file: URL) -> Data {
            guard let handle = try? FileHandle(forReadingFrom: file) else { return Data() }
            defer { try? handle.close() }
            return (try? handle.read(upToCount: Int(refusalLimit))) ?? Data()
        }

        private static func failure(_ error: any Error) -> TransportError {
            switch (error as? URLError)?.code {
            case .timedOut: .timedOut
            case .cancelled: .cancelled
            case .cannotCreateFile, .cannotWriteToFile, .cannotMoveFile, .cannotOpenFile: .fileNotWritable
            default: .unreachable
            }
        }
    }
#endif
