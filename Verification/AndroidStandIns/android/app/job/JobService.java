package android.app.job;

import android.app.Service;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

public abstract class JobService extends Service {
    /** Of each finished job, whether it is to be tried again. */
    public static final BlockingQueue<Boolean> FINISHED = new LinkedBlockingQueue<>();

    public abstract boolean onStartJob(JobParameters parameters);

    public abstract boolean onStopJob(JobParameters parameters);

    public final void jobFinished(JobParameters parameters, boolean wantsReschedule) { FINISHED.add(wantsReschedule); }
}
