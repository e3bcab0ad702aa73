# A worker in Ruby: see `test`.
require 'tavola'

table_name, queue_name, journal_path, stop_path = ARGV
table = Tavola.open(table_name)
jobs = Tavola::Queue.open(queue_name)
table.set('text of ruby', 'grüße')
table.set('list of ruby', [1, 'zwei', nil])
jobs.push('grüße of ruby')
journal = File.open(journal_path, File::WRONLY | File::CREAT | File::APPEND)
until File.exist?(stop_path)
  table.increment('count')
  journal.syswrite("1\n")
  jobs.pop(timeout: 0.01) { |job| table.add("done #{job}", 'ruby') }
end
