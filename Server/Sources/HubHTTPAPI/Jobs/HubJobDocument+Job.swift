import HubProtocol
import PushHub
import SharedAccess

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
        // It may be known before the job's files are brought to their end.
        failure = job.state == .failed ? job.failure : nil
        outputProperties = [
            Property(key: Property.outputFilePath, value: job.outputFile),
            Property(key: Property.failedFilePath, value: job.failedFile),
        ]
        createdAt = job.createdAt
        updatedAt = job.updatedAt
    }
}

extension HubJobDocument.JobType {
    init(_ kind: HubJob.Kind) {
        switch kind {
        case .export: self = .exportRegistrations
        case .importCreate: self = .importCreateRegistrations
        case .importUpdate: self = .importUpdateRegistrations
        case .importDelete: self = .importDeleteRegistrations
        case .importUpsert: self = .importUpsertRegistrations
        }
    }

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
