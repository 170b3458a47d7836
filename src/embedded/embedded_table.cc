#include "embedded/embedded_table.h"

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <thread>
#include <utility>

#include "embedded/database_options.h"
#include "embedded/row_value.h"

namespace hourfold {
namespace {

namespace fs = std::filesystem;

constexpr int kReadOnlyAttempts = 5;
constexpr auto kReadOnlyPause = std::chrono::milliseconds(100);

std::string place(const EmbeddedOptions& options) { return "embedded table " + options.dir; }

Error not_created(const EmbeddedOptions& options) {
  return unavailable(place(options) + " does not exist: run `hourfold table create` or start `hourfold run`");
}

Error damaged(const EmbeddedOptions& options, const std::string& what) {
  return fatal(place(options) + " is damaged (" + what +
               "): restore the directory, or move it away and let the topic be read again");
}

Error open_error(const EmbeddedOptions& options, const rocksdb::Status& status) {
  const std::string text = status.ToString();
  if (status.IsIOError() && text.find("LOCK") != std::string::npos) {
    return unavailable(place(options) + " is locked by another process: one process writes at a time (" +
                       text + ")");
  }
  if (status.IsCorruption()) return damaged(options, text);
  if (status.IsNoSpace()) return unavailable(place(options) + ": the disk is full: " + text);
  return fatal(place(options) + " cannot be opened: " + text);
}

Error read_error(const EmbeddedOptions& options, const rocksdb::Status& status) {
  if (status.IsCorruption()) return damaged(options, status.ToString());
  return unavailable(place(options) + ": reading failed: " + status.ToString());
}

rocksdb::Slice slice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }
std::string_view view(const rocksdb::Slice& bytes) { return {bytes.data(), bytes.size()}; }

enum class Directory { kMissing, kDatabase, kOther };

Directory look_at(const std::string& dir) {
  std::error_code error;
  if (!fs::exists(dir, error)) return Directory::kMissing;
  if (fs::exists(fs::path(dir) / "CURRENT", error)) return Directory::kDatabase;
  // RocksDB writes CURRENT last: a creation that was interrupted, or is under way.
  if (fs::exists(fs::path(dir) / "LOCK", error)) return Directory::kMissing;
  return fs::is_directory(dir, error) && fs::is_empty(dir, error) ? Directory::kMissing : Directory::kOther;
}

std::optional<Error> bad_key(std::span<const std::string> keys) {
  for (const std::string& key : keys) {
    if (key.empty()) return refused("an empty row key");
  }
  return std::nullopt;
}

}  // namespace

EmbeddedTable::EmbeddedTable(EmbeddedOptions options, Access access)
    : options_(std::move(options)), access_(access) {}

EmbeddedTable::~EmbeddedTable() = default;

Result<std::unique_ptr<EmbeddedTable>> EmbeddedTable::open(const EmbeddedOptions& options, Access access,
                                                           const TableSpec& spec) {
  std::unique_ptr<EmbeddedTable> table(new EmbeddedTable(options, access));
  Result<void> opened;
  switch (look_at(options.dir)) {
    case Directory::kOther:
      return fatal(options.dir +
                   " is neither an embedded table nor an empty directory: name another in sink.dir");
    case Directory::kDatabase:
      opened = table->open_existing();
      break;
    case Directory::kMissing:
      if (access == Access::kReadOnly) return not_created(options);
      if (access == Access::kWrite) opened = table->open_new(spec);
      break;
  }
  if (!opened) return opened.error();
  // A table whose creation was interrupted is empty and without settings: made anew.
  if (access == Access::kWrite && table->db_ == nullptr) {
    opened = table->open_new(spec);
    if (!opened) return opened.error();
  }
  return table;
}

Result<void> EmbeddedTable::open_existing() {
  rocksdb::DB* opened = nullptr;
  const rocksdb::Options settings = database_options(options_.cache_bytes, options_.write_buffer_bytes);
  rocksdb::Status status;
  if (access_ == Access::kReadOnly) {
    // The writer may remove a file between our reading its name and opening it.
    for (int attempt = 0; attempt < kReadOnlyAttempts; ++attempt) {
      if (attempt > 0) std::this_thread::sleep_for(kReadOnlyPause);
      status = rocksdb::DB::OpenForReadOnly(read_only_options(settings), options_.dir, &opened);
      if (status.ok()) break;
    }
  } else {
    status = rocksdb::DB::Open(settings, options_.dir, &opened);
  }
  if (!status.ok()) return open_error(options_, status);
  owner_.reset(opened);

  auto meta = read_meta(*opened);
  if (!meta) return meta.error();
  if (*meta && (*meta)->version > kTableVersion) {
    return fatal(place(options_) + " has format version " + std::to_string((*meta)->version) +
                 ", this program knows " + std::to_string(kTableVersion) + ": run a newer hourfold");
  }
  if (*meta) {
    db_ = opened;
    return {};
  }
  const std::unique_ptr<rocksdb::Iterator> first(opened->NewIterator(rocksdb::ReadOptions()));
  first->SeekToFirst();
  if (first->Valid())
    return fatal(options_.dir +
                 " is a RocksDB database but no rollup table: name another directory in sink.dir");
  return access_ == Access::kReadOnly ? Result<void>(not_created(options_)) : Result<void>();
}

Result<void> EmbeddedTable::open_new(const TableSpec& spec) {
  if (!owner_) {
    std::error_code error;
    fs::create_directories(options_.dir, error);
    if (error) return fatal(options_.dir + " cannot be created: " + error.message());
    rocksdb::DB* opened = nullptr;
    rocksdb::Options settings = database_options(options_.cache_bytes, options_.write_buffer_bytes);
    settings.create_if_missing = true;
    const rocksdb::Status status = rocksdb::DB::Open(settings, options_.dir, &opened);
    if (!status.ok()) return open_error(options_, status);
    owner_.reset(opened);
  }
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  const RowPut row = new_meta_row({spec.buckets, spec.layout, kTableVersion}, now.count());
  auto written = write(*owner_, std::span(&row, 1));
  if (!written) return written;
  db_ = owner_.get();
  return {};
}

Result<rocksdb::DB*> EmbeddedTable::database() const {
  rocksdb::DB* db = db_;
  if (db == nullptr) return not_created(options_);
  return db;
}

Result<std::optional<TableMeta>> EmbeddedTable::read_meta(rocksdb::DB& db) const {
  std::string value;
  const rocksdb::Status status = db.Get(rocksdb::ReadOptions(), slice(meta_row_key()), &value);
  if (status.IsNotFound()) return std::optional<TableMeta>();
  if (!status.ok()) return read_error(options_, status);
  StoredRow row;
  if (!decode_row(value, row)) return damaged(options_, "the meta row cannot be read");
  std::map<std::string, std::string> texts;
  for (const StoredCell& cell : row.cells) {
    if (cell.family == 'm') texts[cell.qualifier] = cell.value;
  }
  const std::optional<TableMeta> meta = read_description(texts);
  if (!meta) return damaged(options_, "the meta row lacks buckets, layout or version");
  return meta;
}

Result<void> EmbeddedTable::put(std::span<const RowPut> rows) {
  auto db = database();
  if (!db) return db.error();
  if (access_ == Access::kReadOnly) return fatal(place(options_) + " was opened for reading only");
  for (const RowPut& row : rows) {
    if (auto why = why_unwritable(row)) return refused(place(options_) + ": put: " + *why);
  }
  if (rows.empty()) return {};
  return write(**db, rows);
}

Result<void> EmbeddedTable::write(rocksdb::DB& db, std::span<const RowPut> rows) {
  if (write_failed_) {
    const rocksdb::Status resumed = db.Resume();
    if (!resumed.ok())
      return unavailable(place(options_) + ": writing is still impossible: " + resumed.ToString());
    write_failed_ = false;
  }
  rocksdb::WriteBatch batch;
  for (const RowPut& row : rows) batch.Merge(row.key(), encode_row(row));
  rocksdb::WriteOptions synced;
  synced.sync = true;
  const rocksdb::Status status = db.Write(synced, &batch);
  if (status.ok()) return {};
  write_failed_ = true;
  return unknown(place(options_) + ": writing failed: " + status.ToString() + ": check the disk");
}

Result<std::vector<RowLookup>> EmbeddedTable::look_up(std::span<const std::string> keys,
                                                      std::string_view contribution) {
  auto db = database();
  if (!db) return db.error();
  std::vector<RowLookup> rows(keys.size());
  auto visited = each_value(**db, keys, [&](std::size_t i, std::string_view value) {
    StoredCell cell;
    bool found = false;
    if (!find_cell(value, 's', contribution, found, cell)) return false;
    if (found) {
      rows[i].contribution = std::move(cell);
      return true;
    }
    StoredRow row;
    if (!decode_row(value, row)) return false;
    rows[i] = look_up_in(row, contribution);
    return true;
  });
  if (!visited) return visited.error();
  return rows;
}

Result<std::vector<StoredRow>> EmbeddedTable::read(std::span<const std::string> keys) {
  auto db = database();
  if (!db) return db.error();
  std::vector<StoredRow> rows(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) rows[i].key = keys[i];
  auto visited = each_value(**db, keys, [&](std::size_t i, std::string_view value) {
    if (!decode_row(value, rows[i])) return false;
    std::erase_if(rows[i].cells, [](const StoredCell& cell) { return cell.family == 'm'; });
    return true;
  });
  if (!visited) return visited.error();
  return rows;
}

// Of the rows that are there; the visitor returns false for one that it cannot read.
Result<void> EmbeddedTable::each_value(
    rocksdb::DB& db, std::span<const std::string> keys,
    const std::function<bool(std::size_t, std::string_view)>& visit) const {
  if (auto error = bad_key(keys)) return *error;
  std::vector<rocksdb::Slice> slices(keys.begin(), keys.end());
  std::vector<rocksdb::PinnableSlice> values(keys.size());
  std::vector<rocksdb::Status> statuses(keys.size());
  db.MultiGet(rocksdb::ReadOptions(), db.DefaultColumnFamily(), keys.size(), slices.data(), values.data(),
              statuses.data());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (statuses[i].IsNotFound()) continue;
    if (!statuses[i].ok()) return read_error(options_, statuses[i]);
    if (!visit(i, view(values[i]))) return damaged(options_, "a row cannot be read");
  }
  return {};
}

Result<void> EmbeddedTable::scan(const std::string& from, const std::string& to, bool all_families,
                                 const std::function<bool(const StoredRow&)>& on_row) {
  auto db = database();
  if (!db) return db.error();
  if (!to.empty() && from >= to) return {};
  const rocksdb::Slice bound(to);
  rocksdb::ReadOptions reading;
  reading.fill_cache = false;
  if (!to.empty()) reading.iterate_upper_bound = &bound;
  const std::unique_ptr<rocksdb::Iterator> row((*db)->NewIterator(reading));
  for (row->Seek(from); row->Valid(); row->Next()) {
    StoredRow stored;
    stored.key = row->key().ToString();
    if (!decode_row(view(row->value()), stored)) return damaged(options_, "a row cannot be read");
    if (!all_families) std::erase_if(stored.cells, [](const StoredCell& cell) { return cell.family != 'r'; });
    if (!stored.cells.empty() && !on_row(stored)) return {};
  }
  if (!row->status().ok()) return read_error(options_, row->status());
  return {};
}

Result<std::optional<StoredRow>> EmbeddedTable::get(const std::string& key) {
  auto db = database();
  if (!db) return db.error();
  if (auto error = bad_key(std::span(&key, 1))) return *error;
  std::string value;
  const rocksdb::Status status = (*db)->Get(rocksdb::ReadOptions(), key, &value);
  if (status.IsNotFound()) return std::optional<StoredRow>();
  if (!status.ok()) return read_error(options_, status);
  StoredRow row;
  row.key = key;
  if (!decode_row(value, row)) return damaged(options_, "a row cannot be read");
  return std::optional<StoredRow>(std::move(row));
}

Result<bool> EmbeddedTable::empty() {
  auto db = database();
  if (!db) return db.error();
  const std::unique_ptr<rocksdb::Iterator> first((*db)->NewIterator(rocksdb::ReadOptions()));
  first->SeekToFirst();
  if (!first->status().ok()) return read_error(options_, first->status());
  return !first->Valid() || first->key().starts_with("\xff");
}

Result<void> EmbeddedTable::create(const TableSpec& spec) {
  const std::scoped_lock lock(creating_);
  if (db_ != nullptr) return fatal(place(options_) + " exists already");
  if (access_ == Access::kReadOnly) return fatal(place(options_) + " was opened for reading only");
  return open_new(spec);
}

Result<std::vector<TableFinding>> EmbeddedTable::check(const TableSpec& spec) {
  auto db = database();
  if (!db) return db.error();
  auto meta = read_meta(**db);
  if (!meta) return meta.error();
  if (!*meta) return damaged(options_, "the meta row is gone");
  std::vector<TableFinding> findings;
  if ((*meta)->buckets != spec.buckets) {
    const std::string buckets = std::to_string((*meta)->buckets);
    findings.push_back({false, place(options_) + " has " + buckets + " buckets, the configuration says " +
                                   std::to_string(spec.buckets) + ": set sink.buckets to " + buckets +
                                   ", it is fixed when the table is created"});
  }
  if ((*meta)->layout != spec.layout) {
    const std::string layout(to_string((*meta)->layout));
    findings.push_back({false, place(options_) + " has the layout " + layout + ", the configuration says " +
                                   std::string(to_string(spec.layout)) + ": set sink.layout to \"" + layout +
                                   "\", it is fixed when the table is created"});
  }
  return findings;
}

}  // namespace hourfold
