import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.ExecutionException;

/**
 * Runs a probe as a long-lived child: one command a line on stdin, its words separated by tabs; one answer a line on stdout,
 * "ok", a tab and the answer's words, or "error", a tab and the reason. Ends at the end of stdin.
 */
final class CommandLoop {
  interface Commands {
    String run(String name, String[] arguments) throws Exception;
  }

  interface Start {
    Commands open() throws Exception;
  }

  /** Does not return. Stdout is the answers' alone: what the clients log goes to stderr. */
  static void run(Start start) throws Exception {
    PrintStream answers = System.out;
    System.setOut(System.err);
    Commands commands = start.open();
    var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = in.readLine()) != null; ) {
      String[] words = line.split("\t", -1);
      String answer;
      try {
        answer = "ok\t" + commands.run(words[0], Arrays.copyOfRange(words, 1, words.length));
      } catch (Exception | Error e) {
        Throwable cause = e instanceof ExecutionException && e.getCause() != null ? e.getCause() : e;
        answer = "error\t" + cause.toString().replaceAll("\\s+", " ");
      }
      answers.println(answer);
      answers.flush();
    }
    System.exit(0); // the clients' threads would keep the process
  }

  private CommandLoop() {}
}
