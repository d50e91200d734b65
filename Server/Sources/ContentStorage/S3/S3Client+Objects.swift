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
            let answer = try await perform(Request(method: "HEAD", key: key))
            guard let size = answer.headers.first(name: "Content-Length").flatMap({ Int64($0) }),
                let written = answer.headers.first(name: "Last-Modified").flatMap(HTTPDate.moment)
            else { throw S3Fault.malformed("no size or age") }
            return S3ObjectState(
                size: size, writtenAt: written, storeTime: answer.headers.first(name: "Date").flatMap(HTTPDate.moment))
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

/// A large object that is being stored in parts.
struct S3Multipart: Hashable {
    let key: String
    let id: String
    /// The tags of the parts that are stored, in order.
    var tags: [String] = []
}

/// A multipart upload that is not completed or aborted.
struct S3OpenMultipart: Hashable {
    var upload: S3Multipart
    var startedAt: Timestamp
}

extension S3Client {
    /// Begins an object in parts. What is begun costs space until it is completed or aborted.
    func begin(_ key: String) async throws -> S3Multipart {
        let answer = try await document(
            "InitiateMultipartUploadResult",
            Request(
                method: "POST", key: key, query: [("uploads", "")], headers: [("Content-Type", "application/octet-stream")]))
        guard let id = answer["UploadId"], !id.isEmpty else { throw S3Fault.malformed("no upload id") }
        return S3Multipart(key: key, id: id)
    }

    /// Stores the next part. All but the last have at least 5 MiB.
    func add(_ part: ByteBuffer, to upload: S3Multipart) async throws -> S3Multipart {
        let answer = try await perform(
            Request(method: "PUT", key: upload.key, query: Self.query(of: upload, nextPart: true), body: part))
        guard let tag = answer.headers.first(name: "ETag") else { throw S3Fault.malformed("no tag of a part") }
        var upload = upload
        upload.tags.append(tag)
        return upload
    }

    /// Stores bytes of another object as the next part.
    func add(copyOf source: String, _ range: Range<Int64>, to upload: S3Multipart) async throws -> S3Multipart {
        let answer = try await document(
            "CopyPartResult",
            Request(
                method: "PUT", key: upload.key, query: Self.query(of: upload, nextPart: true),
                headers: [
                    ("x-amz-copy-source", copySource(source)),
                    ("x-amz-copy-source-range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)"),
                ]))
        guard let tag = answer["ETag"] else { throw S3Fault.malformed("no tag of a part") }
        var upload = upload
        upload.tags.append(tag)
        return upload
    }

    /// Completes the object from its parts. A retry may find that the first attempt succeeded and only its answer was lost.
    func complete(_ upload: S3Multipart) async throws {
        let parts = upload.tags.enumerated().map { index, tag in
            "<Part><PartNumber>\(index + 1)</PartNumber><ETag>\(Self.escaped(tag))</ETag></Part>"
        }
        let body = "<CompleteMultipartUpload>\(parts.joined())</CompleteMultipartUpload>"
        do {
            _ = try await document(
                "CompleteMultipartUploadResult",
                Request(
                    method: "POST", key: upload.key, query: Self.query(of: upload),
                    headers: [("Content-Type", "application/xml")],
                    body: ByteBuffer(string: body)))
        } catch let fault as S3Fault {
            guard case .refused(_, "NoSuchUpload", _) = fault, try await state(of: upload.key) != nil else { throw fault }
        }
    }

    /// Forgets the parts.
    func abort(_ upload: S3Multipart) async throws {
        do { try await perform(Request(method: "DELETE", key: upload.key, query: Self.query(of: upload))) } catch let fault
            as S3Fault
        {
            // An upload that is over is what was wanted.
            guard case .refused(404, _, _) = fault else { throw fault }
        }
    }

    /// The multipart uploads that are open, by the beginning of their keys; at most 1,000.
    func openUploads(_ start: String) async throws -> [S3OpenMultipart] {
        let prefix = options.location.prefix
        let answer = try await document(
            "ListMultipartUploadsResult",
            Request(method: "GET", query: [("uploads", ""), ("prefix", prefix + start), ("max-uploads", "1000")]))
        return answer.all("Upload").compactMap { upload in
            guard let key = upload["Key"], key.hasPrefix(prefix + start), let id = upload["UploadId"],
                let started = upload["Initiated"].flatMap({ S3Moment.read(document: $0) })
            else { return nil }
            return S3OpenMultipart(
                upload: S3Multipart(key: String(key.dropFirst(prefix.count)), id: id), startedAt: started)
        }
    }

    private static func query(of upload: S3Multipart, nextPart: Bool = false) -> [(name: String, value: String)] {
        let id = (name: "uploadId", value: upload.id)
        return nextPart ? [(name: "partNumber", value: "\(upload.tags.count + 1)"), id] : [id]
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}

extension S3Client {
    /// Copies an object inside the store, in pieces that each end in time.
    func copy(_ source: String, size: Int64, to key: String) async throws {
        guard size > options.copyBytes else { return try await copy(source, to: key) }
        try await copyInParts(source, size, to: key)
    }

    /// Copies the first bytes of an object, in pieces that each end in time; the store wants them to be many enough for parts.
    func copyInParts(_ source: String, _ size: Int64, to key: String) async throws {
        var parts = try await begin(key)
        do {
            var offset: Int64 = 0
            while offset < size {
                let end = min(size, offset + options.copyBytes)
                parts = try await add(copyOf: source, offset..<end, to: parts)
                offset = end
            }
            try await complete(parts)
        } catch {
            let begun = parts
            await Task { try? await abort(begun) }.value
            throw error
        }
    }
}
