import NIOCore
import RichPushModel

/// A large object that is being stored in parts.
struct S3Multipart: Hashable {
    let key: String
    let id: String
    /// The tags of the parts that are stored, in order.
    var tags: [String] = []
}

/// A multipart upload that nobody has ended yet.
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
        let headers = try await perform(
            Request(method: "PUT", key: upload.key, query: Self.query(of: upload, nextPart: true), body: part))
        guard let tag = headers["ETag"] else { throw S3Fault.malformed("no tag of a part") }
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

    /// Makes the parts an object. A repetition may find that the lost answer before it was a good one.
    func complete(_ upload: S3Multipart) async throws {
        let parts = upload.tags.enumerated().map { index, tag in
            "<Part><PartNumber>\(index + 1)</PartNumber><ETag>\(Self.escaped(tag))</ETag></Part>"
        }
        let body = "<CompleteMultipartUpload>\(parts.joined())</CompleteMultipartUpload>"
        do {
            _ = try await document(
                "CompleteMultipartUploadResult",
                Request(
                    method: "POST", key: upload.key, query: Self.query(of: upload), headers: [("Content-Type", "application/xml")],
                    body: ByteBuffer(string: body)))
        } catch let fault as S3Fault {
            guard case .refused(_, "NoSuchUpload", _) = fault, try await state(of: upload.key) != nil else { throw fault }
        }
    }

    /// Forgets the parts.
    func abort(_ upload: S3Multipart) async throws {
        do { try await perform(Request(method: "DELETE", key: upload.key, query: Self.query(of: upload))) } catch let fault as S3Fault {
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
