import NIOCore
import RichPushModel
import WireText

/// What is known of an object without its bytes.
struct S3ObjectState: Hashable {
    var size: Int64
    /// By the clock of the store, in whole seconds.
    var writtenAt: Timestamp
    /// The clock of the store when it answered; absent when it did not say.
    var storeTime: Timestamp?
}

/// A line of a list.
struct S3Entry: Hashable {
    /// Below the prefix.
    var key: String
    var size: Int64
    var writtenAt: Timestamp
}

extension S3Client {
    /// Stores an object, over one of that key if there is one.
    func put(_ body: ByteBuffer, at key: String, type: String = "application/octet-stream") async throws {
        try await perform(Request(method: "PUT", key: key, headers: [("Content-Type", type)], body: body))
    }

    /// What is under a key; `nil` when there is nothing.
    func state(of key: String) async throws -> S3ObjectState? {
        do {
            let headers = try await perform(Request(method: "HEAD", key: key))
            guard let size = headers["Content-Length"].flatMap({ Int64($0) }),
                let written = headers["Last-Modified"].flatMap(HTTPDate.moment)
            else { throw S3Fault.malformed("no size or age") }
            return S3ObjectState(
                size: size, writtenAt: written, storeTime: headers["Date"].flatMap(HTTPDate.moment))
        } catch let fault as S3Fault where fault.isMissing { return nil }
    }

    /// Removes an object, if there is one.
    func delete(_ key: String) async throws {
        do { try await perform(Request(method: "DELETE", key: key)) } catch let fault as S3Fault where fault.isMissing {}
    }

    /// The keys that begin with `start`, in order after `key`, at most `limit` and 1,000.
    func list(_ start: String, after key: String? = nil, limit: Int = 1000) async throws -> [S3Entry] {
        let prefix = options.location.prefix
        var query = [
            (name: "list-type", value: "2"), (name: "prefix", value: prefix + start),
            (name: "max-keys", value: "\(max(1, min(limit, 1000)))"),
        ]
        if let key { query.append((name: "start-after", value: prefix + key)) }
        let document = try await document("ListBucketResult", Request(method: "GET", query: query))
        return try document.all("Contents").map { entry in
            guard let key = entry["Key"], key.hasPrefix(prefix), let size = entry["Size"].flatMap({ Int64($0) }),
                let written = entry["LastModified"].flatMap({ S3Moment.read(document: $0) })
            else { throw S3Fault.malformed("a list without keys, sizes or ages") }
            return S3Entry(key: String(key.dropFirst(prefix.count)), size: size, writtenAt: written)
        }
    }

    /// Copies an object inside the store, in one piece. It may have 5 GB.
    func copy(_ source: String, to key: String) async throws {
        _ = try await document(
            "CopyObjectResult", Request(method: "PUT", key: key, headers: [("x-amz-copy-source", copySource(source))]))
    }

    /// How a copy names what it copies.
    func copySource(_ key: String) -> String {
        PercentEncoding.encode("/\(options.location.bucket)/\(options.location.prefix)\(key)", keepsSlashes: true)
    }
}
