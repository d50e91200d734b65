import HTTPTypes
import HubProtocol
import Hummingbird
import PushHub
import RichPushModel
import ServiceErrors
import SharedAccess
import WireText

/// Import and export jobs, and the container with the feedback (Reference/AzureNotificationHubs.md#2-11 and #2-12).
extension HubRoutes {
    func answerFiles(_ call: HubCall) async throws -> Response {
        guard let files = options.files, let served = call.served else {
            _ = try call.hub()
            throw ServiceError(.notFound, "this server has no such resource")
        }
        let links = call.links(files, served)
        switch call.route.operation {
        case .feedbackContainer:
            try await files.jobs.layDownFeedback(of: served.hub)
            return HubAnswer.body(links.link(to: .feedback, allowing: [.read, .list]), as: HubAnswer.text, .feedbackContainer)
        case .submitJob:
            return try await submit(call, files, links)
        case .jobs:
            let jobs = try await files.jobs.jobs(in: served.hub.id).map { HubJobDocument($0, links) }
            let feed = HubJobDocument.feed(jobs, at: call.location, updated: call.now)
            return HubAnswer.body(feed, as: HubAnswer.feed, .jobs)
        default:
            guard let text = call.route.id, let number = Int64(text), text == String(number),
                let job = try await files.jobs.job(number, in: served.hub.id)
            else { throw ServiceError(.notFound, "There is no job with this id") }
            return HubAnswer.body(HubJobDocument(job, links).answer(at: call.location), as: HubAnswer.entry, .job)
        }
    }

    private func submit(_ call: HubCall, _ files: HubFiles, _ links: ContainerLinks) async throws -> Response {
        let document = try HubJobDocument.read(entry: try await call.body(limit: XMLLimits.request.bytes))
        let job = try await files.jobs.submit(try Self.request(document, links), in: links.hub.hub.id)
        let answer = HubJobDocument(job, links).answer(at: call.location)
        return HubAnswer.body(
            answer, as: HubAnswer.entry, .submitJob, headers: [.location: call.location.member(String(job.number))])
    }

    private static func request(_ document: HubJobDocument, _ links: ContainerLinks) throws(ServiceError) -> JobRequest {
        let output = try links.read(document.outputContainer, "OutputContainerUri", .write)
        guard let container = output.container, output.blob == nil else {
            throw ServiceError(.invalidField, "OutputContainerUri is a file, and not a container")
        }
        return JobRequest(
            kind: document.type.kind, hubName: links.hub.record.name.text, output: container,
            source: try source(document, links))
    }

    private static func source(
        _ document: HubJobDocument, _ links: ContainerLinks
    ) throws(ServiceError) -> JobRequest.Source? {
        guard document.type != .exportRegistrations, let url = document.importFile else { return nil }
        let found = try links.read(url, "ImportFileUri", .read)
        guard let container = found.container else { return nil }
        if let blob = found.blob { return .file(container, blob) }
        let query = HubQuery(url.firstIndex(of: "?").map { String(url[url.index(after: $0)...]) })
        return .container(container, prefix: query["prefix"] ?? "")
    }
}

extension HubCall {
    /// The links to the containers of the hub, at the address by which the sender of this request reached the server.
    func links(_ files: HubFiles, _ served: ServedHub) -> ContainerLinks {
        ContainerLinks(
            files: files, hub: served, authority: authority, origin: origin, hosts: options.publicHosts, now: now)
    }
}

extension HubJobDocument {
    /// What the protocol says of a job. Links are signed anew: those of the request are not kept.
    init(_ job: HubJob, _ links: ContainerLinks) {
        self.init(JobType(job.kind), outputContainer: links.link(to: job.output, allowing: [.read, .write, .list]))
        if let first = job.inputs.first {
            importFile = links.link(to: first.container, job.inputs.count == 1 ? first.name : nil, allowing: [.read, .list])
        }
        id = String(job.number)
        progress = job.percentage
        status = Status(job.state)
        // The failure may be known before the job's files are complete.
        failure = job.state == .failed ? job.failure : nil
        outputProperties = [
            HeaderField(Self.outputFilePath, job.outputFile), HeaderField(Self.failedFilePath, job.failedFile),
        ]
        createdAt = job.createdAt
        updatedAt = job.updatedAt
    }
}

extension HubJobDocument.JobType {
    init(_ kind: HubJob.Kind) { self = Self.allCases.first { $0.kind == kind } ?? .exportRegistrations }

    var kind: HubJob.Kind {
        switch self {
        case .exportRegistrations: .export
        case .importCreateRegistrations: .importCreate
        case .importUpdateRegistrations: .importUpdate
        case .importDeleteRegistrations: .importDelete
        case .importUpsertRegistrations: .importUpsert
        }
    }
}

extension HubJobDocument.Status {
    init(_ state: HubJob.State) {
        switch state {
        case .waiting: self = .started
        case .running: self = .running
        case .completed: self = .completed
        case .failed: self = .failed
        }
    }
}
