import RichPushModel
import Testing

@testable import PushHub

@Suite("The files of a job that goes on")
struct JobFilesTests {
    private func job(of bench: JobBench) throws -> HubJob {
        HubJob(
            hub: bench.hub.id, number: 1, kind: .export, state: .running, output: try #require(ContainerName("files")),
            folder: "1", inputs: [], progress: JobProgress(), createdAt: bench.clock.now, updatedAt: bench.clock.now)
    }

    @Test(
        "a file that was removed, or cut short, ends the job with a reason and not as if it were whole",
        arguments: JobFilePlace.allCases)
    func gone(place: JobFilePlace) async throws {
        let bench = try await JobBench(place)
        let job = try job(of: bench)
        var progress = JobProgress()
        progress.pendingOutput = "0123456789"
        let files = try await JobFiles(job, bench.containers, &progress)
        try await files.finish(progress)
        #expect(progress.outputSize == 10)
        _ = try await JobFiles(job, bench.containers, &progress)
        let output = BlobReference(hub: job.hub, container: job.output, name: try #require(BlobName(job.outputFile)))
        #expect(try await bench.containers.remove(output))
        for rest in ["", "012345678"] {
            if !rest.isEmpty { try await bench.containers.append(to: output, at: 0).write(Array(rest.utf8)) }
            let fault = await #expect(throws: JobFault.self) { try await JobFiles(job, bench.containers, &progress) }
            #expect(fault?.reason.contains("is not there any more") == true)
        }
    }
}
