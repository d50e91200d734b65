package android.app.job;

import java.util.HashSet;
import java.util.Set;

/** Abstract on Android, where the system makes it. */
public class JobScheduler {
    public final Set<Integer> scheduled = new HashSet<>();

    public int schedule(JobInfo job) {
        scheduled.add(job.getId());
        return 1;
    }

    public void cancel(int id) { scheduled.remove(id); }
}
