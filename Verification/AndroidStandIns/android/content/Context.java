package android.content;

import android.app.job.JobScheduler;
import java.io.File;

/** Of one app: services and folder are those of the process. */
public abstract class Context {
    public static final JobScheduler JOBS = new JobScheduler();

    public final <T> T getSystemService(Class<T> type) { return type.cast(JOBS); }

    public File getNoBackupFilesDir() { return new File(System.getProperty("folder")); }

    public Context getApplicationContext() { return this; }
}
